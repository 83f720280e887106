import Testing

@testable import BreakerStore

/// Every event in every phase, and all that has to do with the lead under every leader.
@Suite struct LifeTableTests {
    /// The life as it is when the event happens, at 1,000 ms: a task's ticket 1 is overdue, a thread's ticket 2 is not.
    private static func life(_ phase: String) -> DrivenLife {
        var life = DrivenLife()
        _ = life.happen(.opened(mayCacheDecisions: true), at: 0)
        _ = life.happen(.handlesWereMade, at: 0)
        _ = life.happen(.submitted(1, by: .task, deadline: 900), at: 1)
        _ = life.happen(.submitted(2, by: .thread, deadline: 2_000), at: 1)
        life.life.lead = .nobody
        switch phase {
        case "degraded": _ = life.happen(.lost, at: 2)
        case "closing": _ = life.happen(.closeRequested, at: 800)
        case "closing, lost":
            _ = life.happen(.closeRequested, at: 800)
            _ = life.happen(.lost, at: 801)
        case "closed": _ = life.happen(.closed, at: 2)
        default: break
        }
        return life
    }

    private static func life(ledBy leader: String) -> DrivenLife {
        var life = Self.life("healthy")
        switch leader {
        case "caller": life.life.lead = .caller
        case "reader": life.life.lead = .reader
        case "thread": life.life.lead = .thread
        default: break
        }
        return life
    }

    /// What the event leads to, and what is different afterwards.
    private static func effect(of event: LifeEvent, on before: DrivenLife) -> String {
        var life = before
        let reply = life.happen(event, at: 1_000).description
        let facts = life.facts
        let changes = before.facts.keys.sorted().compactMap { key in
            facts[key] == before.facts[key] ? nil : "\(key): \(facts[key] ?? "")"
        }
        return ([reply] + changes).filter { !$0.isEmpty }.joined(separator: "; ")
    }

    @Test func eachPhaseHasTheSameEvents() {
        for columns in [LifeTable.phases, LifeTable.leads] {
            let events = columns.map { $0.effects.map(\.event) }
            #expect(Set(events).count == 1)
            #expect(events.allSatisfy { Set($0).count == $0.count })
        }
        let names = (LifeTable.phases[0].effects + LifeTable.always).map { "\($0.event)".prefix { $0 != "(" } }
        #expect(Set(names).count == 22, "each kind of event is in the table")
    }

    @Test(arguments: LifeTable.phases) func eachEventHasItsEffect(in phase: LifeTable.Column) {
        for (event, expected) in phase.effects + LifeTable.always {
            let effect = Self.effect(of: event, on: Self.life(phase.name))
            #expect(effect == expected, "\(event) while \(phase.name)")
        }
    }

    /// Health names what is in the way now; the thread goes by what the file was lost for.
    @Test func aFailedOpeningIsNamed() {
        var life = Self.life("degraded")
        #expect("\(life.life.health)".contains("BreakerStoreError.full: lost"))
        _ = life.happen(.openingFailed, at: 1_000)
        #expect("\(life.life.health)".contains("BreakerStoreError.notFound: no directory"))
        #expect(life.life.refusal?.code == .notFound)
        #expect(life.life.loss?.error.code == .full)
        let reply = life.happen(.submitted(9, by: .task, deadline: 2_000), at: 1_000)
        #expect(reply.description == "refused (notFound)")
    }

    @Test(arguments: LifeTable.leads) func eachEventHasItsEffect(under leader: LifeTable.Column) {
        for (event, expected) in leader.effects {
            let effect = Self.effect(of: event, on: Self.life(ledBy: leader.name))
            #expect(effect == expected, "\(event) while \(leader.name) leads")
        }
    }
}

import FoundationEssentials
import Testing

@testable import BreakerStore

/// Random lives: the value and a plain model of it never disagree.
///
/// BREAKERSTORE_SEED=<number> repeats one.
@Suite(.timeLimit(.minutes(10))) struct LifeWalkTests {
    static let lives = 1_500
    static let steps = 100

    @Test func lifeAndModelAgree() {
        let text = ProcessInfo.processInfo.environment["BREAKERSTORE_SEED"]
        let seeds = text.flatMap { UInt64($0) }.map { $0...$0 } ?? 0...UInt64(Self.lives - 1)
        var seen: [String: Int] = [:]
        for seed in seeds { guard self.walk(seed, &seen) else { return } }
        // Lives in which nothing happens prove nothing.
        guard text == nil else { return }
        let decisions = [
            "leads", "waits", "refused (full)", "refused (notFound)", "refused (closed)", "has work", "gives up",
            "goes on", "may look",
            "may not",
            "done", "withdrawn", "had begun", "recovers", "looks around", "finishes", "syncs the log", "copies",
            "was lost",
            "sleeps",
        ]
        for decision in decisions { #expect(seen[decision, default: 0] > 100, "\(decision)") }
    }

    private func walk(_ seed: UInt64, _ seen: inout [String: Int]) -> Bool {
        var random = SplitMix64(seed: seed)
        var life = DrivenLife()
        var model = LifeModel()
        var log: [String] = []
        var now = 0
        var number = 0
        // Without a circuit the thread has nothing to look after.
        if random.chance(70) {
            _ = life.happen(.handlesWereMade, at: now)
            _ = model.happen(.handlesWereMade, at: now)
        }
        for _ in 0..<Self.steps {
            now += random.pick([0, 0, 1, 7, 40, 300, 700]) ?? 0
            let event = Self.event(&random, at: now, &number, life)
            let before = life.life.lead
            let reply = life.happen(event, at: now)
            let expected = model.happen(event, at: now)
            log.append("\(now): \(event) -> \(reply)")
            seen[reply.decision, default: 0] += 1
            guard reply == expected, life.facts == model.facts else {
                Issue.record(
                    """
                    BREAKERSTORE_SEED=\(seed): expected \(expected), \(model.facts.sorted { $0.key < $1.key })
                    there is \(life.facts.sorted { $0.key < $1.key })
                    \(log.joined(separator: "\n"))
                    """)
                return false
            }
            guard Self.threadKnows(event, reply, before, life.life.lead) else {
                Issue.record("BREAKERSTORE_SEED=\(seed): the thread leads and sleeps\n\(log.joined(separator: "\n"))")
                return false
            }
        }
        return true
    }

    /// Whether the store's thread is woken by an event of others that gives it the lead.
    private static func threadKnows(
        _ event: LifeEvent,
        _ reply: LifeReply,
        _ before: StoreLife.Lead,
        _ after: StoreLife.Lead
    ) -> Bool {
        guard case .thread = after else { return true }
        if case .thread = before { return true }
        switch event {
        case .submitted, .leadEnded: return reply.wakes
        default: return true
        }
    }

    private static func event(
        _ random: inout SplitMix64,
        at now: Int,
        _ number: inout Int,
        _ life: DrivenLife
    ) -> LifeEvent {
        let known = number == 0 ? 0 : random.number(in: max(1, number - 4)...number)
        // Rarely what changes a life for good.
        let kind = random.chance(85) ? random.number(in: 0...20) : random.number(in: 21...30)
        switch kind {
        case 0...4:
            number += 1
            let patience = random.pick([0, 5, 50, 400, 3_000]) ?? 0
            return .submitted(number, by: random.pick(LifeEvent.Submitter.allCases) ?? .task, deadline: now + patience)
        case 5: return .startRound
        case 6: return .fileLocked
        case 7, 8: return .handleBusyFile
        case 9: return .commitEnded(isLost: random.chance(20), frames: random.pick([0, 199, 200, 229, 230]) ?? 0)
        case 10: return .acquireLeadForRead
        case 11: return .leadEnded
        case 12: return .leadEnded
        case 13: return .releaseLeadIfIdle
        case 14: return .acquireLeadForThread
        case 15: return .waiterGaveUp(known)
        case 16, 17: return .waiterGaveUp(known)
        case 18, 19: return .nextThreadWork
        case 20: return .claimDueCheckpoint
        case 21, 22: return .handlesWereMade
        case 23: return .circuitsWereDropped(areOthersLeft: random.chance(50))
        case 24, 25: return .idleSweepBegan
        case 26, 27: return .setMaintenanceDue
        case 28: return random.chance(50) ? .lost : .opened(mayCacheDecisions: random.chance(80))
        case 29:
            return random.pick([.recovered, .openingFailed, .setMaintenanceDue, .handlesWereMade]) ?? .recovered
        default: return random.chance(20) ? (random.chance(70) ? .closeRequested : .closed) : .recovered
        }
    }
}

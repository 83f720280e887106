import Testing

@testable import BreakerStore

/// Each order of a link in each state, without a hold, under one, and after one.
@Suite struct CircuitOrderTests {
    static let now: Int64 = 10_000
    static let duration: Int64 = 77

    enum Beneath: CaseIterable { case closed, openEarly, openDue, halfOpen, unknown }
    enum Over: CaseIterable { case nothing, held, ended }
    enum Order: CaseIterable {
        case open, extend, close, reset, hold, release, probe

        /// Returns whether the order applies.
        func apply(to circuit: inout Circuit, at now: StoreTime) -> Bool {
            let (who, reason) = ("fleet: bob", "why")
            func obey(_ order: LinkOrder) -> Bool { circuit.obey(order, by: who, reason: reason, at: now) }
            func obey(_ command: OperatorCommand) -> Bool {
                let before = circuit.epoch
                circuit.obey(command, by: who, keepsTrip: false, endsHold: true, isEndedByReset: false, at: now)
                return circuit.epoch != before
            }
            switch self {
            case .open: return obey(.open(for: CircuitOrderTests.duration, trips: 4))
            case .extend: return obey(.extend(for: CircuitOrderTests.duration))
            case .close: return obey(.close)
            case .reset: return obey(OperatorCommand(kind: .reset, number: 1, age: 0, reason: reason))
            case .hold:
                return obey(OperatorCommand(kind: .hold, number: 1, age: 2, hold: .closed, holdFor: 42, reason: reason))
            case .release: return obey(OperatorCommand(kind: .hold, number: 1, age: 0, reason: reason))
            case .probe: return obey(.probe)
            }
        }
    }

    /// What an order leads to; nil in the table where it does not apply.
    struct Effect {
        var state: Circuit.State?
        var events: [CircuitEvent.Kind] = []
        var isNewStay = true
        var trips: Int?
        var forgetsFailures = false
    }

    static func table(_ order: Order, _ beneath: Beneath, _ over: Over) -> Effect? {
        let ordered = Circuit.State.open(until: StoreTime(now + duration))
        let due = Circuit.State.open(until: StoreTime(now))
        switch (order, beneath, over) {
        case (.open, .closed, _): return Effect(state: ordered, events: [.tripped], trips: 4)
        case (.open, .openEarly, _), (.open, .openDue, _), (.open, .halfOpen, _):
            return Effect(state: ordered, events: [.reopened], trips: 4)
        case (.open, .unknown, _): return nil
        case (.extend, .openEarly, _), (.extend, .openDue, _): return Effect(state: ordered, isNewStay: false)
        case (.extend, .closed, _), (.extend, .halfOpen, _), (.extend, .unknown, _): return nil
        case (.close, .openEarly, _), (.close, .openDue, _), (.close, .halfOpen, _):
            return Effect(state: .closed, events: [.closed], trips: 0, forgetsFailures: true)
        case (.close, .closed, _), (.close, .unknown, _): return nil
        // Nothing from before counts here.
        case (.reset, .closed, .nothing): return nil
        case (.reset, _, _): return Effect(state: .closed, events: [.reset], trips: 0, forgetsFailures: true)
        case (.hold, .halfOpen, _): return Effect(state: due, events: [.held])
        case (.hold, _, _): return Effect(events: [.held])
        case (.release, _, .held): return Effect(events: [.released])
        case (.release, _, _): return nil
        case (.probe, .openEarly, .nothing), (.probe, .openEarly, .ended): return Effect(state: due)
        case (.probe, .openDue, .nothing), (.probe, .openDue, .ended): return Effect(isNewStay: false)
        case (.probe, _, _): return nil
        }
    }

    static func circuit(_ beneath: Beneath, _ over: Over, epoch: Epoch = 9_000) -> Circuit {
        let state: Circuit.State =
            switch beneath {
            case .closed: .closed
            case .openEarly: .open(until: StoreTime(self.now + 7))
            case .openDue: .open(until: StoreTime(self.now - 7))
            case .halfOpen: .halfOpen(successes: 1)
            case .unknown: .unknown("shadow", until: nil)
            }
        var circuit = Circuit(rules: .forTests(), state: state, since: StoreTime(8_000), epoch: epoch)
        circuit.tripsInARow = beneath == .closed ? 0 : 1
        circuit.trippedSince = beneath == .closed ? nil : StoreTime(8_000)
        circuit.lastError = "E"
        if beneath == .halfOpen {
            circuit.probes = [
                Circuit.Probe(token: 1, worker: 1, since: StoreTime(9_000), leaseEnds: StoreTime(10_050))
            ]
        }
        if over != .nothing {
            circuit.hold = Circuit.Hold(
                state: .open, since: StoreTime(9_500), until: StoreTime(over == .held ? 10_030 : 9_900), by: "ann",
                reason: "deploy")
        }
        return circuit
    }

    struct Case: CustomTestStringConvertible {
        let order: Order
        let beneath: Beneath
        let over: Over

        static let all = Order.allCases.flatMap { order in
            Beneath.allCases.flatMap { beneath in
                Over.allCases.map { Case(order: order, beneath: beneath, over: $0) }
            }
        }

        var testDescription: String { "\(self.order) in \(self.beneath), \(self.over)" }
    }

    @Test(arguments: Case.all, [9_000, 20_000] as [Epoch])
    func effect(of one: Case, epoch: Epoch) {
        let (order, beneath, over) = (one.order, one.beneath, one.over)
        let now = StoreTime(Self.now)
        let before = Self.circuit(beneath, over, epoch: epoch)
        var circuit = before
        let applies = order.apply(to: &circuit, at: now)
        let changes = circuit.drainFailureChanges()
        let effect = Self.table(order, beneath, over)

        #expect(applies == (effect != nil))
        #expect(circuit.state == effect?.state ?? before.state)
        #expect(circuit.tripsInARow == effect?.trips ?? before.tripsInARow)
        #expect(changes == (effect?.forgetsFailures ?? false ? [.dropAll] : []))
        #expect((circuit.lastError == nil) == (effect?.forgetsFailures ?? false))
        let isNewStay = effect?.isNewStay ?? false
        #expect(circuit.epoch == (isNewStay ? max(epoch.adding(1), Epoch(Self.now)) : epoch))
        #expect(circuit.probes == (isNewStay ? [] : before.probes))
        #expect(circuit.since == (Self.startsOver(order, beneath, effect) ? now : before.since))
        self.expectHold(of: circuit, after: before, order)
        self.expectHistory(of: circuit, after: before, order, over, effect)
        switch circuit.state {
        case .closed: #expect(circuit.trippedSince == nil)
        case .open where order == .open && beneath == .closed: #expect(circuit.trippedSince == now)
        case .open, .halfOpen, .unknown: #expect(circuit.trippedSince == before.trippedSince)
        }
    }

    /// A hold and its end begin no new stay beneath, but where they take the probes' slots away; nor does a probe.
    private static func startsOver(_ order: Order, _ beneath: Beneath, _ effect: Effect?) -> Bool {
        switch order {
        case .open, .close, .reset: effect != nil
        case .hold: beneath == .halfOpen
        // No file has a hold over half-open.
        case .release, .extend, .probe: false
        }
    }

    private func expectHold(of circuit: Circuit, after before: Circuit, _ order: Order) {
        let now = StoreTime(Self.now)
        switch order {
        case .hold:
            #expect(
                circuit.hold
                    == Circuit.Hold(
                        state: .closed, since: now, until: now.adding(40), by: "fleet: bob", reason: "why"))
        case .reset, .release: #expect(circuit.hold == nil)
        case .open, .extend, .close, .probe:
            #expect(circuit.hold(at: now) == before.hold(at: now), "a hold in force stays")
        }
    }

    private func expectHistory(
        of circuit: Circuit, after before: Circuit, _ order: Order, _ over: Over, _ effect: Effect?
    ) {
        var history = circuit.transitions
        // Who comes by writes down that a hold is over; an order that leaves no trace leaves that to the next.
        if over == .ended, order != .reset, history.first?.isOfItself == true {
            #expect(history[0].kind == .released)
            history.removeFirst()
        }
        #expect(history.map(\.kind) == effect?.events ?? [])
        #expect(history.allSatisfy { $0.reason == "why" && !$0.isOfItself })
        var word = before.word
        for transition in circuit.transitions {
            #expect(transition.from == word)
            word = transition.to ?? "nothing"
        }
        if !circuit.transitions.isEmpty { #expect(word == circuit.word) }
    }

    /// Nothing that a server says moves a circuit beyond what the file takes for possible.
    @Test(arguments: [Int64.max, .min, -1, 0, 10_000, 10_001])
    func durationsAreBounded(duration: Int64) {
        let now = StoreTime(Self.now)
        let most = Rules.forTests().longestRecovery
        #expect(most == 10_000)
        let until = now.adding(min(max(0, duration), most))
        func obeyed(_ order: LinkOrder, by circuit: Circuit) -> Circuit? {
            var circuit = circuit
            return circuit.obey(order, by: nil, reason: nil, at: now) ? circuit : nil
        }
        let opened = obeyed(.open(for: duration, trips: -5), by: Self.circuit(.closed, .nothing))
        #expect(opened?.state == .open(until: until))
        #expect(opened?.tripsInARow == 0)
        #expect(opened?.hasStampsAhead(of: now) == false)
        let extended = obeyed(.extend(for: duration), by: Self.circuit(.openDue, .nothing))
        #expect(extended?.state == .open(until: until))
        // An end that is later already stays: a provider may have declared it to this host.
        for order in [LinkOrder.extend(for: duration), .open(for: duration, trips: 1)] {
            let open = obeyed(order, by: Self.circuit(.openEarly, .nothing))
            #expect(open?.state == .open(until: max(until, now.adding(7))))
        }
        var held = Self.circuit(.closed, .nothing)
        held.obey(
            OperatorCommand(kind: .hold, number: 1, age: 0, hold: .open, holdFor: duration), by: "fleet",
            keepsTrip: false,
            endsHold: true, isEndedByReset: false, at: now)
        #expect((held.hold(at: now) != nil) == (duration > 0))
    }
}

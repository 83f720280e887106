import Testing

@testable import BreakerStore

/// Every event in every situation.
@Suite struct CircuitTableTests {
    @Test func eachPairIsInTheTableOnce() {
        for happening in Happening.allCases {
            for situation in Situation.allCases {
                let count = CircuitTable.pairs.count { $0.happening == happening && $0.situation == situation }
                #expect(count == 1, "\(happening) in \(situation)")
            }
        }
    }

    @Test(arguments: CircuitTable.pairs, Situation.epochs)
    func effect(of pair: Pair, epoch: Epoch) {
        let before = pair.situation.circuit(epoch: epoch)
        var circuit = before
        let reply = pair.happening.happen(to: &circuit)
        let now = StoreTime(pair.happening.time)
        let effect = pair.effect

        self.expect(reply, is: effect.reply, of: circuit)
        #expect(circuit.state == effect.state ?? before.state)
        #expect(circuit.failures.count == effect.failures ?? before.failures.count)
        #expect(circuit.tripsInARow == effect.trips ?? before.tripsInARow)
        #expect(circuit.probes.map(\.token) == effect.probes ?? before.probes.map(\.token))
        #expect(circuit.rules == effect.rules ?? before.rules)
        #expect(circuit.lastError == pair.lastError(after: before.lastError))
        switch effect.hold {
        case nil:
            #expect(circuit.hold(at: now) == before.hold(at: now))
        case .some(.none):
            #expect(circuit.hold == nil)
        case .held(let state, let until):
            let until = until.map { StoreTime($0) }
            #expect(circuit.hold == Circuit.Hold(state: state, since: now, until: until, by: "me", reason: "why"))
        }
        self.expectHistory(of: circuit, after: before, at: now, is: effect.history)
    }

    private func expect(_ reply: Happening.Reply, is expected: Effect.Reply, of circuit: TestCircuit) {
        switch reply {
        case .admitted(.proceed(let epoch)):
            #expect(expected == .proceed)
            #expect(epoch == circuit.epoch)
        case .admitted(.observe):
            Issue.record("no circuit of this table observes")
        case .admitted(.uncounted):
            #expect(expected == .uncounted)
        case .admitted(.probe(let token, let epoch)):
            #expect(expected == .probe)
            #expect(token == 5)
            #expect(epoch == circuit.epoch)
            let now = StoreTime(Situation.now)
            #expect(
                circuit.probes.last
                    == Circuit.Probe(token: 5, worker: 5, since: now, leaseEnds: now.adding(circuit.rules.lease)))
        case .admitted(.refuse(let cause, let until)):
            #expect(expected == .refuse(cause, until: until?.microseconds))
        case .reported(let action): #expect(expected == .report(action))
        case .asked(let answer, let failures): #expect(expected == .asked(answer, failures: failures))
        case .released(let wasHeld): #expect(expected == .released(wasHeld))
        case .nothing: #expect(expected == .nothing)
        }
    }

    private func expectHistory(
        of circuit: TestCircuit,
        after before: TestCircuit,
        at now: StoreTime,
        is expected: [CircuitEvent.Kind]
    ) {
        var history = circuit.transitions
        // The first who comes by writes down that a hold's time is over; that alone is no new epoch.
        if before.hold != nil, before.hold(at: now) == nil, history.first?.kind == .released {
            #expect(history[0].reason == "its time is over")
            history.removeFirst()
        } else if circuit.hold != before.hold {
            #expect(!history.isEmpty, "a change of the hold leaves a trace")
        }
        #expect(history.map(\.kind) == expected)

        // Each change of state has its trace, and the traces join.
        var word = before.word
        for transition in circuit.transitions {
            #expect(transition.from == word)
            word = transition.to ?? "nothing"
        }
        #expect(word == circuit.word)

        // The epoch rule: each transition raises it to the greater of one more and now, and nobody probes any longer.
        var epoch = before.epoch
        for transition in history where raisesTheEpoch(transition.kind) {
            epoch = max(epoch.adding(1), Epoch(now.microseconds))
        }
        #expect(circuit.epoch == epoch)
        if epoch != before.epoch {
            let old = Set(before.probes.map(\.token))
            #expect(old.isDisjoint(with: circuit.probes.map(\.token)))
        }
        if circuit.state.word != before.state.word { #expect(circuit.since == now) }
    }
}

/// Whether an entry of the history is a transition; `configured`, `probeExpired` and `proberDied` are remarks.
func raisesTheEpoch(_ kind: CircuitEvent.Kind) -> Bool {
    [.tripped, .probing, .reopened, .closed, .reset, .held, .released, .probeAllowed].contains(kind)
}

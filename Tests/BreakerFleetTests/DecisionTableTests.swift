import BreakerStore
import Testing

@testable import BreakerFleet

/// What a link that knows nothing yet does first, for each state of the file and of the register.
@Suite struct DecisionTableTests {
    private static let files: [(name: String, file: LinkedCircuit)] = {
        func file(
            _ state: LinkedCircuit.State, trip: String?, newest: CircuitEvent.Kind?, isHeld: Bool
        ) -> LinkedCircuit {
            func event(_ kind: CircuitEvent.Kind, _ by: String?) -> LinkedCircuit.Event {
                .init(kind: kind, age: 3_000_000, by: by)
            }
            let by = trip == "fleet" ? LinkOrder.fleet : nil
            return LinkedCircuit(
                name: "a", epoch: 7, state: state,
                hold: isHeld ? .init(state: .open, age: 1_000_000, by: LinkOrder.fleet(for: "ann")) : nil,
                counting: .init(failures: 5, window: 60_000_000), recovery: 30_000_000, longestRecovery: 600_000_000,
                failures: [.init(key: .init(worker: 1, number: 1), age: 5_000_000)],
                transition: newest.map { event($0, $0 == .probing ? nil : by) },
                trip: trip.map { _ in event(.tripped, by) },
                commands: isHeld ? [Self.hold] : [])
        }
        return [false, true].flatMap { isHeld in
            let held = isHeld ? ", held" : ""
            return [
                ("closed\(held)", file(.closed, trip: nil, newest: nil, isHeld: isHeld)),
                ("closed by own probe\(held)", file(.closed, trip: nil, newest: .closed, isHeld: isHeld)),
                ("open, own\(held)", file(.open(left: 2_000_000), trip: "own", newest: .tripped, isHeld: isHeld)),
                (
                    "open, the fleet's\(held)",
                    file(.open(left: 2_000_000), trip: "fleet", newest: .tripped, isHeld: isHeld)
                ),
                ("half-open, own\(held)", file(.halfOpen, trip: "own", newest: .probing, isHeld: isHeld)),
                ("half-open, the fleet's\(held)", file(.halfOpen, trip: "fleet", newest: .probing, isHeld: isHeld)),
                ("unknown\(held)", file(.unknown, trip: nil, newest: nil, isHeld: isHeld)),
            ]
        }
    }()

    /// The newest, where it is known.
    private static let hold = OperatorCommand(
        kind: .hold, number: 1, lamportTime: 7, age: 1_000_000, hold: .open, by: "ann")

    private static func reset(age: Int64) -> OperatorCommand {
        OperatorCommand(kind: .reset, number: 2, lamportTime: 6, age: age, by: "ann")
    }

    private static let registers: [(name: String, register: Register)] = {
        var closed = Register(name: "a", generation: 9, state: .closed, age: 4_000_000)
        var open = closed
        open.state = .open
        open.left = 20_000_000
        open.openFor = 30_000_000
        open.trips = 1
        var reset = closed
        reset.commands = [Self.reset(age: 4_000_000)]
        reset.by = "ann"
        var late = reset
        late.age = 1_000_000
        late.commands = [Self.reset(age: 1_000_000)]
        var due = open
        due.left = 0
        var taken = due
        taken.lease = .init(host: "other", left: 3_000_000)
        var ours = due
        ours.lease = .init(host: "me", left: 3_000_000)
        var newer = open
        newer.age = 0
        closed.reason = "a probe succeeded"
        let plain = [
            ("closed", closed), ("closed by reset", reset), ("closed by a late reset", late), ("open", open),
            ("open anew", newer), ("due", due), ("due, another probes", taken), ("due, this host probes", ours),
        ]
        return plain
            + plain.map { name, register in
                var register = register
                register.commands.append(Self.hold)
                return ("\(name), held", register)
            }
    }()

    private func firstStep(_ file: LinkedCircuit, _ register: Register) -> String {
        var link = CircuitLink(.init(host: "me"))
        link.learn(register, at: 1_000)
        switch link.next(file, nil, at: 1_000, serverTime: nil, draw: 0) {
        case nil: return "-"
        case .order(.obey(let command, let keepsTrip, _), _, _):
            return "obeys \(command.kind)" + (keepsTrip ? ", leaves the trip" : "")
        case .request(.send(let command)): return "tells \(command.kind)"
        case .order(let order, _, _): return "\(order)".replacing("BreakerStore.HoldState", with: "")
        case .request(let request): return "\(request)".replacing("BreakerFleet.Request.", with: "")
        }
    }

    @Test func firstSteps() {
        var lines: [String] = []
        for (name, file) in Self.files {
            for (state, register) in Self.registers {
                lines.append("\(name) | \(state) | \(self.firstStep(file, register))")
            }
        }
        #expect(lines.joined(separator: "\n") == Self.expected)
    }

    private static let expected = """
        closed | closed | -
        closed | closed by reset | obeys reset
        closed | closed by a late reset | obeys reset
        closed | open | open(for: 30000000, trips: 1)
        closed | open anew | open(for: 30000000, trips: 1)
        closed | due | open(for: 10000000, trips: 1)
        closed | due, another probes | open(for: 10000000, trips: 1)
        closed | due, this host probes | open(for: 10000000, trips: 1)
        closed | closed, held | obeys hold
        closed | closed by reset, held | obeys hold
        closed | closed by a late reset, held | obeys hold
        closed | open, held | obeys hold
        closed | open anew, held | obeys hold
        closed | due, held | obeys hold
        closed | due, another probes, held | obeys hold
        closed | due, this host probes, held | obeys hold
        closed by own probe | closed | -
        closed by own probe | closed by reset | obeys reset
        closed by own probe | closed by a late reset | obeys reset
        closed by own probe | open | -
        closed by own probe | open anew | open(for: 30000000, trips: 1)
        closed by own probe | due | verdict(generation: 9, Verdict.closed, isElected: false)
        closed by own probe | due, another probes | -
        closed by own probe | due, this host probes | verdict(generation: 9, Verdict.closed, isElected: true)
        closed by own probe | closed, held | obeys hold
        closed by own probe | closed by reset, held | obeys hold
        closed by own probe | closed by a late reset, held | obeys hold
        closed by own probe | open, held | obeys hold
        closed by own probe | open anew, held | obeys hold
        closed by own probe | due, held | obeys hold
        closed by own probe | due, another probes, held | obeys hold
        closed by own probe | due, this host probes, held | obeys hold
        open, own | closed | -
        open, own | closed by reset | obeys reset, leaves the trip
        open, own | closed by a late reset | obeys reset
        open, own | open | extend(for: 30000000)
        open, own | open anew | extend(for: 30000000)
        open, own | due | extend(for: 10000000)
        open, own | due, another probes | extend(for: 10000000)
        open, own | due, this host probes | extend(for: 10000000)
        open, own | closed, held | obeys hold
        open, own | closed by reset, held | obeys hold
        open, own | closed by a late reset, held | obeys hold
        open, own | open, held | obeys hold
        open, own | open anew, held | obeys hold
        open, own | due, held | obeys hold
        open, own | due, another probes, held | obeys hold
        open, own | due, this host probes, held | obeys hold
        open, the fleet's | closed | close
        open, the fleet's | closed by reset | obeys reset
        open, the fleet's | closed by a late reset | obeys reset
        open, the fleet's | open | extend(for: 30000000)
        open, the fleet's | open anew | open(for: 30000000, trips: 1)
        open, the fleet's | due | extend(for: 10000000)
        open, the fleet's | due, another probes | extend(for: 10000000)
        open, the fleet's | due, this host probes | extend(for: 10000000)
        open, the fleet's | closed, held | obeys hold
        open, the fleet's | closed by reset, held | obeys hold
        open, the fleet's | closed by a late reset, held | obeys hold
        open, the fleet's | open, held | obeys hold
        open, the fleet's | open anew, held | obeys hold
        open, the fleet's | due, held | obeys hold
        open, the fleet's | due, another probes, held | obeys hold
        open, the fleet's | due, this host probes, held | obeys hold
        half-open, own | closed | -
        half-open, own | closed by reset | obeys reset, leaves the trip
        half-open, own | closed by a late reset | obeys reset
        half-open, own | open | open(for: 30000000, trips: 1)
        half-open, own | open anew | open(for: 30000000, trips: 1)
        half-open, own | due | open(for: 10000000, trips: 1)
        half-open, own | due, another probes | open(for: 10000000, trips: 1)
        half-open, own | due, this host probes | -
        half-open, own | closed, held | obeys hold
        half-open, own | closed by reset, held | obeys hold
        half-open, own | closed by a late reset, held | obeys hold
        half-open, own | open, held | obeys hold
        half-open, own | open anew, held | obeys hold
        half-open, own | due, held | obeys hold
        half-open, own | due, another probes, held | obeys hold
        half-open, own | due, this host probes, held | obeys hold
        half-open, the fleet's | closed | close
        half-open, the fleet's | closed by reset | obeys reset
        half-open, the fleet's | closed by a late reset | obeys reset
        half-open, the fleet's | open | open(for: 30000000, trips: 1)
        half-open, the fleet's | open anew | open(for: 30000000, trips: 1)
        half-open, the fleet's | due | open(for: 10000000, trips: 1)
        half-open, the fleet's | due, another probes | open(for: 10000000, trips: 1)
        half-open, the fleet's | due, this host probes | -
        half-open, the fleet's | closed, held | obeys hold
        half-open, the fleet's | closed by reset, held | obeys hold
        half-open, the fleet's | closed by a late reset, held | obeys hold
        half-open, the fleet's | open, held | obeys hold
        half-open, the fleet's | open anew, held | obeys hold
        half-open, the fleet's | due, held | obeys hold
        half-open, the fleet's | due, another probes, held | obeys hold
        half-open, the fleet's | due, this host probes, held | obeys hold
        unknown | closed | -
        unknown | closed by reset | -
        unknown | closed by a late reset | -
        unknown | open | -
        unknown | open anew | -
        unknown | due | -
        unknown | due, another probes | -
        unknown | due, this host probes | -
        unknown | closed, held | -
        unknown | closed by reset, held | -
        unknown | closed by a late reset, held | -
        unknown | open, held | -
        unknown | open anew, held | -
        unknown | due, held | -
        unknown | due, another probes, held | -
        unknown | due, this host probes, held | -
        closed, held | closed | tells hold
        closed, held | closed by reset | tells hold
        closed, held | closed by a late reset | tells hold
        closed, held | open | tells hold
        closed, held | open anew | tells hold
        closed, held | due | tells hold
        closed, held | due, another probes | tells hold
        closed, held | due, this host probes | tells hold
        closed, held | closed, held | -
        closed, held | closed by reset, held | obeys reset
        closed, held | closed by a late reset, held | obeys reset
        closed, held | open, held | open(for: 30000000, trips: 1)
        closed, held | open anew, held | open(for: 30000000, trips: 1)
        closed, held | due, held | open(for: 10000000, trips: 1)
        closed, held | due, another probes, held | open(for: 10000000, trips: 1)
        closed, held | due, this host probes, held | open(for: 10000000, trips: 1)
        closed by own probe, held | closed | tells hold
        closed by own probe, held | closed by reset | tells hold
        closed by own probe, held | closed by a late reset | tells hold
        closed by own probe, held | open | tells hold
        closed by own probe, held | open anew | tells hold
        closed by own probe, held | due | tells hold
        closed by own probe, held | due, another probes | tells hold
        closed by own probe, held | due, this host probes | tells hold
        closed by own probe, held | closed, held | -
        closed by own probe, held | closed by reset, held | obeys reset
        closed by own probe, held | closed by a late reset, held | obeys reset
        closed by own probe, held | open, held | -
        closed by own probe, held | open anew, held | open(for: 30000000, trips: 1)
        closed by own probe, held | due, held | -
        closed by own probe, held | due, another probes, held | -
        closed by own probe, held | due, this host probes, held | yield(generation: 9)
        open, own, held | closed | tells hold
        open, own, held | closed by reset | tells hold
        open, own, held | closed by a late reset | tells hold
        open, own, held | open | tells hold
        open, own, held | open anew | tells hold
        open, own, held | due | tells hold
        open, own, held | due, another probes | tells hold
        open, own, held | due, this host probes | tells hold
        open, own, held | closed, held | -
        open, own, held | closed by reset, held | obeys reset, leaves the trip
        open, own, held | closed by a late reset, held | obeys reset
        open, own, held | open, held | extend(for: 30000000)
        open, own, held | open anew, held | extend(for: 30000000)
        open, own, held | due, held | extend(for: 10000000)
        open, own, held | due, another probes, held | extend(for: 10000000)
        open, own, held | due, this host probes, held | extend(for: 10000000)
        open, the fleet's, held | closed | tells hold
        open, the fleet's, held | closed by reset | tells hold
        open, the fleet's, held | closed by a late reset | tells hold
        open, the fleet's, held | open | tells hold
        open, the fleet's, held | open anew | tells hold
        open, the fleet's, held | due | tells hold
        open, the fleet's, held | due, another probes | tells hold
        open, the fleet's, held | due, this host probes | tells hold
        open, the fleet's, held | closed, held | close
        open, the fleet's, held | closed by reset, held | obeys reset
        open, the fleet's, held | closed by a late reset, held | obeys reset
        open, the fleet's, held | open, held | extend(for: 30000000)
        open, the fleet's, held | open anew, held | open(for: 30000000, trips: 1)
        open, the fleet's, held | due, held | extend(for: 10000000)
        open, the fleet's, held | due, another probes, held | extend(for: 10000000)
        open, the fleet's, held | due, this host probes, held | extend(for: 10000000)
        half-open, own, held | closed | tells hold
        half-open, own, held | closed by reset | tells hold
        half-open, own, held | closed by a late reset | tells hold
        half-open, own, held | open | tells hold
        half-open, own, held | open anew | tells hold
        half-open, own, held | due | tells hold
        half-open, own, held | due, another probes | tells hold
        half-open, own, held | due, this host probes | tells hold
        half-open, own, held | closed, held | -
        half-open, own, held | closed by reset, held | obeys reset, leaves the trip
        half-open, own, held | closed by a late reset, held | obeys reset
        half-open, own, held | open, held | open(for: 30000000, trips: 1)
        half-open, own, held | open anew, held | open(for: 30000000, trips: 1)
        half-open, own, held | due, held | open(for: 10000000, trips: 1)
        half-open, own, held | due, another probes, held | open(for: 10000000, trips: 1)
        half-open, own, held | due, this host probes, held | yield(generation: 9)
        half-open, the fleet's, held | closed | tells hold
        half-open, the fleet's, held | closed by reset | tells hold
        half-open, the fleet's, held | closed by a late reset | tells hold
        half-open, the fleet's, held | open | tells hold
        half-open, the fleet's, held | open anew | tells hold
        half-open, the fleet's, held | due | tells hold
        half-open, the fleet's, held | due, another probes | tells hold
        half-open, the fleet's, held | due, this host probes | tells hold
        half-open, the fleet's, held | closed, held | close
        half-open, the fleet's, held | closed by reset, held | obeys reset
        half-open, the fleet's, held | closed by a late reset, held | obeys reset
        half-open, the fleet's, held | open, held | open(for: 30000000, trips: 1)
        half-open, the fleet's, held | open anew, held | open(for: 30000000, trips: 1)
        half-open, the fleet's, held | due, held | open(for: 10000000, trips: 1)
        half-open, the fleet's, held | due, another probes, held | open(for: 10000000, trips: 1)
        half-open, the fleet's, held | due, this host probes, held | yield(generation: 9)
        unknown, held | closed | -
        unknown, held | closed by reset | -
        unknown, held | closed by a late reset | -
        unknown, held | open | -
        unknown, held | open anew | -
        unknown, held | due | -
        unknown, held | due, another probes | -
        unknown, held | due, this host probes | -
        unknown, held | closed, held | -
        unknown, held | closed by reset, held | -
        unknown, held | closed by a late reset, held | -
        unknown, held | open, held | -
        unknown, held | open anew, held | -
        unknown, held | due, held | -
        unknown, held | due, another probes, held | -
        unknown, held | due, this host probes, held | -
        """
}

import BreakerStore
import BreakerTestSupport
import FoundationEssentials
import Testing

/// Random histories of six processes, on a clock that one of them moves.
///
/// BREAKERSTORE_SEED=<number> repeats what the processes do, not when each comes by.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RandomWalkTests {
    static let seeds: [UInt64] = {
        if let text = ProcessInfo.processInfo.environment["BREAKERSTORE_SEED"], let seed = UInt64(text) {
            return [seed]
        }
        return [1, 2, 3, .random(in: 4...1_000_000)]
    }()

    static let circuits = ["c0", "c1", "c2"]

    @Test(arguments: seeds)
    func historyIsAWalkThatAllSee(seed: UInt64) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(6, "listening=1")
        try await workers.ask("breakers c 3 failures=2 recovery=1 lease=2")
        var random = SplitMix64(seed: seed)
        for _ in 0..<8 {
            let scripts = workers.indices.map { Self.script(of: $0, &random) }
            try await workers.ask { "steps w\($0) \(scripts[$0])" }
        }
        let comment: Comment = "BREAKERSTORE_SEED=\(seed)"
        let history = try await workers[0].history()
        // Histories in which nothing happens prove nothing.
        #expect(Set(history.map(\.kind)).count >= 8, comment)
        #expect(history.count > 100, comment)
        let walk = HeardWalk(history)
        #expect(walk.faults.isEmpty, comment)
        for circuit in Self.circuits {
            let end = walk.places[circuit] ?? HeardWalk.Place()
            let sql =
                "SELECT coalesce((SELECT coalesce('held-' || hold, state) FROM circuit WHERE name = '\(circuit)'), '')"
            let word = try await workers[0].ask("query \(place.store) \(sql)")["row"]
            #expect(word == end.word || end.isForgotten && word == "", comment)
        }
        for event in history {
            switch event.kind {
            case .held: #expect(event.by.hasPrefix("w") && workers.map { "\($0.pid)" }.contains(event.pid), comment)
            case .tripped, .probing, .probeExpired, .proberDied, .reopened, .closed, .configured:
                #expect(event.by == "", comment)
            case .released: #expect(event.by.isEmpty == event.reason.hasPrefix("its_time"), comment)
            default: break
            }
        }
        try await workers.expectAllHeard(history, comment)
        for health in try await workers.ask("health") { #expect(health.description == "health=healthy", comment) }
    }

    /// Some steps of one worker; only the first moves the clock.
    private static func script(of worker: Int, _ random: inout SplitMix64) -> String {
        (0..<15).map { _ in
            let circuit = "c\(random.number(in: 0...2))"
            if worker == 0, random.chance(30) { return "advance:\(random.number(in: 1...1_500))" }
            switch random.number(in: 1...100) {
            case ...30: return "fail:\(circuit)"
            case ...40: return "record:\(circuit)"
            case ...60: return "call:\(circuit)"
            case ...70: return "admit:\(circuit)"
            case ...76: return "succeed:\(circuit)"
            case ...80: return "failed:\(circuit)"
            case ...82: return "discard:\(circuit)"
            case ...83: return "probe:\(circuit)"
            case ...85: return "reset:\(circuit)"
            case ...87: return "hold:\(circuit):open:for=\(random.number(in: 1...2_000))"
            case ...89: return "hold:\(circuit):\(random.chance(50) ? "open" : "closed")"
            case ...95: return "release:\(circuit)"
            case ...97: return "forget:\(circuit)"
            default:
                let failures = random.number(in: 1...3)
                let probes = random.number(in: 1...2)
                return "register:\(circuit):failures=\(failures):recovery=1:lease=2:limit=2:successes=\(probes)"
            }
        }.joined(separator: " ")
    }
}

import BreakerTestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A probe that hangs ends after the circuit has gone on without it, and changes nothing.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LateProbeTests {
    enum Meanwhile: CaseIterable {
        case leaseOver, slotTaken, closedByAnother, reopenedByAnother
        case reset, resetAndProbing, heldOpen, heldClosed, heldAndReleased, heldAndOver, heldAndProbing
        case forgotten, forgottenAndNew, forgottenAndProbing
    }

    /// The call's own end, or its permit's; both go the same way, so that each has one of the two verdicts.
    @Test(arguments: Meanwhile.allCases, ["finish fail", "succeed"])
    func changesNothing(meanwhile: Meanwhile, ending: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        let (late, other) = (workers[0], workers[1])
        // A failure that counted would be seen, and so would a success.
        try await workers.ask(Self.register)
        try await other.ask("fail users 2")
        place.clock.advance(by: .seconds(30))
        let beginning = ending.hasPrefix("finish") ? "begin" : "admit"
        #expect(try await late.ask("\(beginning) users").number("ran") == 1)
        let isProbing = try await Self.goOn(meanwhile, other, place)
        let before = try await Self.circuit(other, place)

        try await late.ask(ending)
        #expect(try await Self.circuit(other, place) == before)
        #expect(try await late.ask("health")["health"] == "healthy")
        // The slot of the one who has it now is still that one's.
        if isProbing {
            #expect(try await late.ask("call users")["cause"] == "probing")
            try await other.ask("finish succeed")
            #expect(try await late.ask("look users")["state"] == "closed")
        }
    }

    /// So that one who never listens is noticed.
    @Test(arguments: [("succeed", "closed"), ("fail", "open")])
    func countsUntilItsLeaseIsOver(ending: String, state: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask(Self.register)
        try await workers[1].ask("fail users 2")
        place.clock.advance(by: .seconds(30))
        #expect(try await workers[0].ask("begin users").number("ran") == 1)
        place.clock.advance(by: .microseconds(19_999_999))
        try await workers[0].ask("finish \(ending)")
        #expect(try await workers[1].ask("look users")["state"] == state)
    }

    @Test(arguments: ["succeed", "fail"])
    func changesNothingInAnotherFile(ending: String) async throws {
        let place = try Workplace.here
        let maker = try place.worker()
        try await maker.ask("open \(place.store).other")
        try await maker.ask(Self.register)
        try await maker.ask("fail users 2")
        #expect(await maker.quit() == 0)
        let late = try await place.openWorker()
        try await late.ask(Self.register)
        try await late.ask("fail users 2")
        place.clock.advance(by: .seconds(30))
        #expect(try await late.ask("begin users").number("ran") == 1)

        for suffix in ["", "-wal", "-shm", "-lock"] {
            unsafe rename("\(place.store).other\(suffix)", place.store + suffix)
        }
        let other = try await place.openWorker()
        try await other.ask(Self.register)
        #expect(try await other.ask("begin users").number("ran") == 1)
        let before = try await Self.circuit(other, place)
        try await late.ask("finish \(ending)")
        // It comes back with the new file, and tells what it has kept.
        let restored = "query \(place.store) SELECT count(*) FROM event WHERE kind = 'restored'"
        while try await other.ask(restored)["row"] == "0" { try Task.checkCancellation() }
        try await late.ask("breaker fence")
        #expect(try await late.ask("workers").number("count") == 2)
        #expect(try await Self.circuit(other, place) == before)
        #expect(try await late.ask("call users")["cause"] == "probing")
        try await other.ask("finish succeed")
        #expect(try await late.ask("look users")["state"] == "closed")
    }

    private static let register = "breaker users failures=2 lease=20"

    /// Brings the circuit on while the probe hangs; returns whether `other` has a probe then.
    private static func goOn(_ meanwhile: Meanwhile, _ other: WorkerProcess, _ place: Workplace) async throws -> Bool {
        func probe() async throws { #expect(try await other.ask("begin users").number("ran") == 1) }
        func tripAndProbe() async throws {
            #expect(try await other.ask("fail users 2").number("failed") == 2)
            // Short of the lease that is to be no reason.
            place.clock.advance(by: .seconds(10))
            try await probe()
        }
        switch meanwhile {
        case .leaseOver:
            place.clock.advance(by: .seconds(20))
        case .slotTaken:
            place.clock.advance(by: .seconds(20))
            try await probe()
            return true
        case .closedByAnother:
            place.clock.advance(by: .seconds(20))
            #expect(try await other.ask("call users").number("ran") == 1)
        case .reopenedByAnother:
            place.clock.advance(by: .seconds(20))
            #expect(try await other.ask("fail users").number("failed") == 1)
        case .reset:
            try await other.ask("reset users")
        case .resetAndProbing:
            try await other.ask("breaker users failures=2 lease=20 recovery=10")
            try await other.ask("reset users")
            try await tripAndProbe()
            return true
        case .heldOpen:
            try await other.ask("hold users open")
        case .heldClosed:
            try await other.ask("hold users closed")
        case .heldAndReleased:
            try await other.ask("hold users open")
            try await other.ask("release users")
        case .heldAndOver:
            try await other.ask("hold users open for=5")
            place.clock.advance(by: .seconds(5))
        case .heldAndProbing:
            try await other.ask("hold users closed")
            try await other.ask("release users")
            try await probe()
            return true
        case .forgotten:
            try await other.ask("forget users")
        case .forgottenAndNew:
            try await other.ask("forget users")
            try await other.ask(Self.register)
        case .forgottenAndProbing:
            try await other.ask("forget users")
            try await other.ask("breaker users failures=2 lease=20 recovery=10")
            try await tripAndProbe()
            return true
        }
        return false
    }

    /// All that a report may change, as it lies in the file.
    private static func circuit(_ worker: WorkerProcess, _ place: Workplace) async throws -> Reply {
        let columns = ["state", "since", "epoch", "open_until", "successes", "trips", "last_error", "hold"]
        let row = columns.map { "quote(\($0))" }.joined(separator: "||' '||")
        let uptime = Int(place.clock.uptime / .microseconds(1))
        // A probe whose lease is over holds no slot, whether or not its row is still there.
        return try await worker.ask(
            """
            query \(place.store) SELECT (SELECT \(row) FROM circuit WHERE name = 'users'), (SELECT count(*) FROM failure), \
            (SELECT count(*) FROM probe, clock WHERE lease_ends > \(uptime) + offset), \
            (SELECT max(id) FROM event WHERE circuit = 'users' AND kind NOT IN ('probeExpired', 'proberDied'))
            """
        )
    }
}

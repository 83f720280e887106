import BreakerStore
import BreakerTestSupport
import FoundationEssentials
import Testing

/// A program in Python that follows `docs/store-format.md` shares a circuit with workers in Swift.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ForeignProgramTests {
    @Test func failuresCountTogether() async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place, "failures=5")
        #expect(try await swift.ask("fail users 2").number("failed") == 2)
        #expect(try await python.ask("call users 2")["calls"] == "counted,counted")
        for look in try await [swift, python].ask("look users") {
            #expect(look["state"] == "closed" && look.number("failures") == 4)
        }
        #expect(try await swift.ask("fail users").number("failed") == 1)
        #expect(try await python.ask("call users")["calls"] == "refused")
        let looks = try await [swift, python].ask("look users")
        for look in looks { #expect(look["state"] == "open" && look["trips"] == "1") }
        #expect(looks[0]["epoch"] == looks[1]["epoch"])
    }

    @Test(arguments: [false, true]) func countsEachFailureOfBothAtOnce(swiftTrips: Bool) async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place, "failures=251")
        try await [swift, python].ask { $0 == 0 ? "fail-tasks users 200" : "call users 50" }
        for look in try await [swift, python].ask("look users") { #expect(look.number("failures") == 250) }
        if swiftTrips {
            try await swift.ask("fail users")
        } else {
            #expect(try await python.ask("call users")["calls"] == "tripped")
        }
        #expect(try await swift.ask("call users")["cause"] == "open")
    }

    /// The Swift worker holds an answer for this circuit, which the commit in Python must end.
    @Test func aTripInPythonIsSeenByTheVeryNextCall() async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place, "failures=3")
        for _ in 1...10 {
            #expect(try await swift.ask("call users 3").number("ran") == 3)
            #expect(try await python.ask("call users 4")["calls"] == "counted,counted,tripped,refused")
            let refusal = try await swift.ask("call users")
            #expect(refusal.description == "ran=0 failed=0 refused=1 cause=open wait=30000000")
            // To Python the circuit stays shut until a worker's probe has closed it.
            place.clock.advance(by: .seconds(30))
            #expect(try await python.ask("call users")["calls"] == "refused")
            #expect(try await swift.ask("call users").number("ran") == 1)
            #expect(try await swift.ask("look users")["state"] == "closed")
            place.clock.advance(by: .seconds(61))
        }
        let trips = try self.history(in: place, limit: 100).filter { $0.kind == .tripped }
        #expect(trips.count == 10)
        #expect(trips.allSatisfy { $0.from == "closed" && $0.to == "open" && $0.worker == "shop.py" && !$0.isOwn })
        #expect(trips.first?.reason == "3 failures, the last: PythonError")
    }

    @Test func theWindowEndsInPythonAsInSwift() async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place, "failures=3 window=60")
        try await swift.ask("fail users 2")
        place.clock.advance(by: .seconds(60))
        for look in try await [swift, python].ask("look users") { #expect(look.number("failures") == 2) }
        place.clock.advance(by: .microseconds(1))
        for look in try await [swift, python].ask("look users") { #expect(look.number("failures") == 0) }
        #expect(try await python.ask("call users 2")["calls"] == "counted,counted")
        #expect(try await swift.ask("fail users").number("failed") == 1)
        #expect(try await python.ask("look users")["state"] == "open")
        // A failure exactly as old as the window counts for Python's own decision, too.
        try await python.ask("reset users ann")
        try await swift.ask("fail users 2")
        place.clock.advance(by: .seconds(60))
        #expect(try await python.ask("call users")["calls"] == "tripped")
    }

    @Test func aHoldThatIsOverIsWrittenDownByPython() async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place)
        try await python.ask("hold users open 5 ann")
        place.clock.advance(by: .microseconds(4_999_999))
        #expect(try await python.ask("call users")["calls"] == "refused")
        place.clock.advance(by: .microseconds(1))
        #expect(try await python.ask("call users")["calls"] == "counted")
        let events = try self.history(in: place, limit: 100)
        #expect(events.map(\.kind) == [.released, .held] && events.map(\.by) == [nil, "ann"])
        #expect(try await python.ask("look users")["hold"] == "None")
        #expect(try await swift.ask("query \(place.store) \(Self.miscountedKinds)")["row"] == "0")
    }

    @Test func aSuccessForgetsConsecutiveFailures() async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place, "consecutive=3")
        try await swift.ask("fail users 2")
        #expect(try await python.ask("call users 1 succeed")["calls"] == "counted")
        // What ended before the success is forgotten, what ends with it counts.
        #expect(try await swift.ask("look users").number("failures") == 0)
        let forgotten = "query \(place.store) SELECT forgotten_until - since FROM circuit"
        #expect(try await swift.ask(forgotten)["row"] == "0")
        #expect(try await python.ask("call users 2")["calls"] == "counted,counted")
        #expect(try await swift.ask("call users").number("ran") == 1)
        #expect(try await python.ask("look users").number("failures") == 0)
        #expect(try await python.ask("call users 3")["calls"] == "counted,counted,tripped")
    }

    @Test func operatorsInPythonAreObeyedAndStandInTheHistory() async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place, "failures=3")
        try await swift.ask("call users 3")
        try await python.ask("hold users open 60 ann")
        let refused = "ran=0 failed=0 refused=1 cause=held wait=60000000 by=ann reason=held-in-python"
        #expect(try await swift.ask("call users").description == refused)
        #expect(try await python.ask("call users")["calls"] == "refused")
        place.clock.advance(by: .seconds(60))
        #expect(try await swift.ask("fail users").number("failed") == 1)
        try await python.ask("hold users closed 0 bob")
        #expect(try await swift.ask("fail users 9").number("failed") == 9)
        #expect(try await python.ask("call users 2")["calls"] == "uncounted,uncounted")
        try await python.ask("release users bob")
        #expect(try await python.ask("call users 2")["calls"] == "counted,tripped")
        #expect(try await swift.ask("call users")["cause"] == "open")
        try await python.ask("reset users cleo")
        #expect(try await swift.ask("call users").number("ran") == 1)
        #expect(try await swift.ask("look users").number("failures") == 0)

        let events = try self.history(in: place, limit: 100).reversed()
        let told = events.map { "\($0.kind.rawValue) \($0.from ?? "")>\($0.to ?? "") \($0.by ?? "-")" }
        #expect(
            told == [
                "held closed>held-open ann", "released held-open>closed -", "held closed>held-closed bob",
                "released held-closed>closed bob", "tripped closed>open -", "reset open>closed cleo",
            ]
        )
        #expect(events.last?.reason == "reset-in-python")
        #expect(try await swift.ask("query \(place.store) \(Self.miscountedKinds)")["row"] == "0")
        #expect(try await python.ask("history users")["events"]?.hasPrefix("reset:cleo,tripped:shop.py,") == true)
    }

    /// Each of these takes the probe's slot away: its result comes too late.
    @Test(arguments: ["reset users ann", "hold users open 0 ann", "hold users closed 0 ann"])
    func changesOverHalfOpenFenceTheProbe(change: String) async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place, "failures=1")
        #expect(try await python.ask("call users")["calls"] == "tripped")
        place.clock.advance(by: .seconds(30))
        #expect(try await swift.ask("admit users").number("ran") == 1)
        #expect(try await python.ask("look users")["state"] == "half-open")
        try await python.ask(change)
        let before = try await python.ask("look users")
        try await swift.ask("failed")
        #expect(try await python.ask("look users") == before)
        if change.hasPrefix("hold") {
            try await python.ask("release users ann")
            // Open beneath, its time come.
            #expect(try await swift.ask("admit users").number("ran") == 1)
            try await swift.ask("succeed")
        }
        #expect(try await python.ask("look users")["state"] == "closed")
    }

    @Test func lateReportsOfPythonAreStale() async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place, "failures=1")
        let epoch = try #require(try await python.ask("look users").number("epoch"))
        try await swift.ask("fail users")
        #expect(try await python.ask("late users \(epoch)")["call"] == "stale")
        try await python.ask("reset users ann")
        #expect(try await python.ask("late users \(epoch)")["call"] == "stale")
        #expect(try await swift.ask("look users").number("failures") == 0)
        let next = try #require(try await python.ask("look users").number("epoch"))
        #expect(next == epoch + 2)
        try await python.ask("hold users closed 0 ann")
        #expect(try await python.ask("late users \(next)")["call"] == "stale")
        // Nor does what was let through under the hold count.
        #expect(try await python.ask("late users \(next + 1)")["call"] == "stale")
        try await python.ask("release users ann")
        #expect(try await python.ask("late users \(next + 2)")["call"] == "tripped")
    }

    @Test func pythonLivesWhileItHoldsItsByte() async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place)
        try await python.ask("use users")
        let pids = [swift.pid, python.pid].map { "\($0)" }.sorted().joined(separator: ",")
        for workers in try await [swift, python].ask("workers") { #expect(workers["pids"] == pids) }
        #expect(try await swift.ask("look users").number("workers") == 2)

        await python.die()
        #expect(try await swift.ask("workers")["pids"] == "\(swift.pid)")
        #expect(try await swift.ask("look users").number("workers") == 1)
        // Whoever opens the store next sweeps what it left behind.
        let rows = "query \(place.store) SELECT (SELECT count(*) FROM worker), (SELECT count(*) FROM registration)"
        #expect(try await swift.ask(rows)["row"] == "2,2")
        _ = try await place.openWorker()
        #expect(try await swift.ask(rows)["row"] == "2,1")
    }

    @Test func pythonLeavesInOrder() async throws {
        let place = try Workplace.here
        let (swift, python) = try await self.pair(in: place)
        try await python.ask("use users")
        try await python.ask("close")
        let rows = "query \(place.store) SELECT (SELECT count(*) FROM worker), (SELECT count(*) FROM registration)"
        #expect(try await swift.ask(rows)["row"] == "1,1")
        #expect(try await swift.ask("health").description == "health=healthy")
    }

    /// A program counts as a reporter once it holds a byte; beside a living one, no dead one counts.
    @Test func reportersAreTheLiving() async throws {
        let place = try Workplace.here
        var configuration = CircuitStore.Configuration()
        configuration.clock = place.clock
        configuration.busyTimeout = .hangLimit
        let store = try CircuitStore(path: place.store, configuration: configuration)
        defer { store.close() }
        let users = try store.breaker(
            .init(name: "users", trip: .failures(3, within: .seconds(60)), minimumReporters: 2)
        )
        for _ in 0..<2 {
            let unregistered = try await ForeignProgram.open(in: place)
            #expect(try await unregistered.ask("call users 5")["calls"] == "counted,counted,counted,counted,counted")
        }
        await users.recordFailure()
        #expect(users.state == .closed)
        // Python decides: it lives, and so does Swift.
        let registered = try await ForeignProgram.open(in: place)
        try await registered.ask("register shop.py")
        #expect(try await registered.ask("call users")["calls"] == "tripped")
        #expect(!users.isCallPermitted)
        // Beside Python alone, those that have died do not count.
        try await registered.ask("reset users ann")
        for _ in 0..<2 {
            let victim = try await place.openWorker()
            try await victim.ask("breaker users failures=3 reporters=2")
            try await victim.ask("fail users 2")
            await victim.die()
        }
        #expect(try await registered.ask("call users 2")["calls"] == "counted,counted")
        await users.recordFailure()
        #expect(!users.isCallPermitted)
    }

    @Test func readingChangesNothing() async throws {
        let place = try Workplace.here
        let python = try ForeignProgram.start(in: place)
        let witness = try place.worker()
        let swift = try await place.openWorker()
        try await swift.ask("breaker users failures=2")
        try await swift.ask("fail users")
        for files in ["in use", "left by the dead", "without an index", "without a log"] {
            switch files {
            case "left by the dead": await swift.die()
            case "without an index": try FileManager.default.removeItem(atPath: place.store + "-shm")
            case "without a log":
                // The last to leave empties the log, and SQLite removes it.
                try await python.ask("open \(place.store)")
                try await python.ask("close")
            default: break
            }
            try await witness.ask("remember \(place.store)")
            let look = try await python.ask("peek \(place.store) users")
            #expect(look["answer"] == "counted" && look.number("failures") == 1, "\(files)")
            #expect(try await witness.ask("changed \(place.store)")["changed"] == "", "\(files)")
        }
    }

    @Test func aFileOfAnotherBootIsNotWritten() async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breaker users failures=1")
        try await first.ask("fail users")
        await first.quit()
        place.clock.reboot(downFor: .seconds(10))
        let python = try await ForeignProgram.open(in: place)
        // The time that the boot took counts, by the wall clock.
        #expect(try await python.ask("look users")["answer"] == "refused")
        await #expect(throws: WorkerProcess.Failure.self) { try await python.ask("reset users ann") }
        _ = try await place.openWorker()
        try await python.ask("reset users ann")
        #expect(try await python.ask("look users")["state"] == "closed")
    }

    @Test func whatIsNoStoreIsLeftAlone() async throws {
        let place = try Workplace.here
        let python = try ForeignProgram.start(in: place)
        await #expect(throws: WorkerProcess.Failure.self) { try await python.ask("open \(place.store)") }
        for ending in ["", "-wal", "-shm", "-lock"] {
            #expect(!FileManager.default.fileExists(atPath: place.store + ending))
        }
    }

    // MARK: -

    /// Of how many kinds the table `transition` has another number of events than the history of one circuit.
    private static let miscountedKinds = """
        SELECT count(*) FROM (SELECT kind, count(*) AS events FROM event GROUP BY kind) LEFT JOIN transition USING (kind) \
        WHERE count IS NOT events
        """

    /// A worker in Swift and a registered one in Python, which share the circuit `users`.
    private func pair(
        in place: Workplace,
        _ config: String = ""
    ) async throws -> (swift: WorkerProcess, python: WorkerProcess) {
        let swift = try await place.openWorker()
        try await swift.ask("breaker users \(config)")
        let python = try await ForeignProgram.open(in: place)
        try await python.ask("register shop.py")
        return (swift, python)
    }

    private func history(in place: Workplace, limit: Int) throws -> [CircuitEvent] {
        var configuration = Stores.configuration()
        configuration.access = .readOnly
        configuration.clock = place.clock
        return try CircuitStore(path: place.store, configuration: configuration).history(of: "users", limit: limit)
    }
}

import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Rules about shares of the calls, in several processes.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RateProcessTests {
    /// A process that hung through a trip and a recovery does not trip the circuit again, and its calls are counted.
    @Test(arguments: ["rate=0.5 minimum=5", "rate=0.9 minimum=5 slow=100", "failures=5", "failures=5 slow=100"])
    func timeOutsOfCallsThatBeganBeforeTheTripOpenNothing(rules: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users \(rules) recovery=10")
        #expect(try await workers[0].ask("hang users 200 20000").number("running") == 200)
        #expect(try await workers[1].ask("fail users 5").number("failed") == 5)
        try await workers[1].ask("until users open")
        #expect(try await workers[1].ask("fail users 5").number("refused") == 5)
        place.clock.advance(by: .seconds(10))
        #expect(try await workers[1].ask("call users").number("ran") == 1)
        place.clock.advance(by: .seconds(10))
        #expect(try await workers[0].ask("hung").number("timed-out") == 200)
        for worker in workers {
            #expect(try await worker.ask("look users")["state"] == "closed")
            #expect(try await worker.ask("call users").number("ran") == 1)
        }
        #expect(try await workers[1].ask("history users tripped").number("count") == 1)
        let totals = try await workers[0].ask("totals users")
        #expect(totals.number("failed") == 205, "\(totals)")
        if rules.contains("slow") { #expect(totals.number("slow") == 200, "\(totals)") }
    }

    /// Whoever counted last has ended: nobody has looked since, and the next process comes after two windows.
    @Test(arguments: [false, true]) func callsOfAProcessThatIsGoneLeaveTheWindow(killed: Bool) async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breaker users rate=0.5 minimum=10 window=5")
        try await first.ask("call users 100")
        // The process moves its calls to the board.
        #expect(try await first.ask("totals users").number("succeeded") == 100)
        if killed { await first.die() } else { #expect(await first.quit() == 0) }
        place.clock.advance(by: .seconds(15))
        let second = try await place.openWorker()
        try await second.ask("breaker users rate=0.5 minimum=10 window=5")
        #expect(try await second.ask("recent users").number("calls") == 0)
        #expect(try await second.ask("fail users 9").number("failed") == 9)
        #expect(try await second.ask("look users")["state"] == "closed")
        #expect(try await second.ask("fail users").number("failed") == 1)
        #expect(try await second.ask("look users")["state"] == "open")
    }

    @Test(arguments: ["rate=0.5", "rate=1 slow=10 slow-share=0.5"])
    func twoNoisyWorkersNeverTripWhereThreeMust(rules: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(3)
        try await workers.ask("breaker users \(rules) minimum=5 reporters=3")
        let isSlow = rules.contains("slow")
        // A slow call goes well: under the second rule nothing fails.
        let bad = isSlow ? "slow users 1 11" : "fail users"
        for worker in workers[..<2] {
            for _ in 0..<100 { #expect(try await worker.ask(bad)["refused"] == "0") }
        }
        for look in try await workers.ask("look users") { #expect(look["state"] == "closed") }
        #expect(try await workers[0].ask("history users tripped").number("count") == 0)
        try await workers[2].ask(bad)
        try await workers[2].ask("until users open")
        for reply in try await workers.ask("call users") { #expect(reply["cause"] == "open") }
        #expect(try await workers[0].ask("history users tripped").number("count") == 1)
    }

    /// Killed as soon as the trip is committed: what failed before it is not in the next window.
    @Test(arguments: ["reset users", "call users"])
    func aTripIsTheEndOfItsWindowThoughItsProcessDies(recovery: String) async throws {
        let place = try Workplace.here
        let victim = try await place.openWorker()
        try await victim.ask("breaker users rate=0.5 minimum=5")
        try await victim.ask("fail users 3")
        // A failure that trips nothing may commit something, too.
        try await victim.ask("die-at commit.done 0")
        try await victim.ask("fail users")
        let commits = try #require(try await victim.ask("reached").number("times"))
        try await victim.ask("die-at commit.done \(commits + 1)")
        await #expect(throws: WorkerProcess.Failure.self) { try await victim.ask("fail users") }
        #expect(await victim.end() == -9)
        let next = try await place.openWorker()
        try await next.ask("breaker users rate=0.5 minimum=5")
        #expect(try await next.ask("look users")["state"] == "open")
        place.clock.advance(by: .seconds(30))
        try await next.ask(recovery)
        #expect(try await next.ask("look users")["state"] == "closed")
        #expect(try await next.ask("fail users").number("failed") == 1)
        #expect(try await next.ask("look users")["state"] == "closed")
        #expect(try await next.ask("totals users").number("failed") == 6)
        // The window has begun: four or five more, as the probe went well.
        #expect(try await next.ask("fail users 5").number("failed") ?? 5 < 5)
        #expect(try await next.ask("history users tripped").number("count") == 2)
    }

    /// Two programs of a deployment register a window of a minute and one of ten seconds in turn.
    @Test func aWindowThatChangesTripsNothingByItself() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users rate=0.5 minimum=10 window=60")
        for step in 0..<120 {
            place.clock.advance(by: .milliseconds(500))
            for worker in workers {
                // A third of the calls fails.
                #expect(try await worker.ask("call users 2").number("ran") == 2, "step \(step)")
                #expect(try await worker.ask("fail users").number("failed") == 1, "step \(step)")
            }
            if step % 7 == 3 {
                let window = step / 7 % 2 == 0 ? 10 : 60
                try await workers[step % 2].ask("breaker users rate=0.5 minimum=10 window=\(window)")
            }
        }
        #expect(try await workers[0].ask("history users tripped").number("count") == 0)
        #expect(try await workers[0].ask("totals users").number("failed") == 240)
        // All that is in the last ten seconds, if not in the last minute, is known.
        try await workers[0].ask("breaker users rate=0.5 minimum=10 window=10")
        let recent = try #require(try await workers[1].ask("recent users").number("calls"))
        #expect((100...132).contains(recent), "\(recent)")
        // As many failures as there were good calls in the window, and no more, are needed at most. A process that is
        // alone waits for nobody's good calls.
        #expect(await workers[0].quit() == 0)
        let failed = try #require(try await workers[1].ask("fail users 200").number("failed"))
        #expect((30...80).contains(failed), "\(failed)")
        #expect(try await workers[1].ask("look users")["state"] == "open")
    }

    // MARK: - What others have not published yet

    /// Traffic begins, in one process with good calls, in another with failing ones: the good ones become known only
    /// after the failing ones alone have reached the share.
    @Test(arguments: ["rate=0.5", "rate=1 slow=10 slow-share=0.5"])
    func successesThatArePublishedDuringACheckCount(rules: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users \(rules) minimum=20 window=20")
        let bad = rules.contains("slow") ? "slow users 20 11" : "fail users 20"
        // However late the other process's thread is: it decides only once the good calls are published.
        try await workers[1].ask("stop-at check.ends")
        #expect(try await workers[1].ask(bad)["refused"] == "0")
        try await workers[0].ask("call users 100")
        #expect(try await workers[0].ask("totals users").number("succeeded") ?? 0 >= 100)
        try await workers[1].ask("let-go")
        while try await workers[1].ask("reached").number("times") == 0 {}
        #expect(try await workers[1].ask("look users")["state"] == "closed")
        while try await workers[1].ask("look users")["state"] == "closed" {
            try await workers[1].ask(bad.replacing(" 20", with: " 1"))
        }
        let reason = try #require(try await workers[1].ask("reason users")["reason"])
        let counted = reason.split(separator: "-").compactMap { Int($0) }
        #expect(counted.count >= 2 && counted[1] - counted[0] >= 100, "\(reason)")
    }

    /// A share that is reached trips whether or not calls still come.
    @Test func aReachedRateNeedsNoFurtherCall() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users rate=0.5 minimum=20 window=20")
        #expect(try await workers[1].ask("fail users 20").number("failed") == 20)
        try await workers[0].ask("until users open")
        #expect(try await workers[0].ask("history users tripped").number("count") == 1)
    }

    /// The process that has asked is killed: another one that uses the circuit finds the share.
    ///
    /// It does so, too, where it has made no calls for so long that it knows of the circuit as it was before a trip and
    /// a recovery, or of another window.
    @Test(arguments: [nil, "reset users", "breaker users rate=0.5 minimum=20 window=10"])
    func theDeathOfTheProcessThatAsksKeepsNobodyFromTripping(change: String?) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users rate=0.5 minimum=20 window=5")
        try await workers[0].ask("call users")
        if change == "reset users" {
            try await workers[1].ask("fail users 21")
            try await workers[1].ask("until users open")
        }
        if let change { try await workers[1].ask(change) }
        try await workers[1].ask("die-at check.ends 1")
        // On a busy machine it is killed before it has made all of these calls.
        _ = try? await workers[1].ask("fail users 21")
        #expect(await workers[1].end() == -9)
        // Asked of the file: a look by the worker itself would refresh what it knows.
        #expect(await eventually { Foreign.value(place.store, "SELECT state FROM circuit") == "open" })
    }

    /// The other process publishes just before the windows are summed, or before the answers are read: its good calls
    /// count, also if they have left the window by then.
    @Test(arguments: ["check.begins", "check.ends"]) func goodCallsThatComeWithTheQuestionCount(
        point: String
    ) async throws {
        let place = try Workplace.here
        let other = try await place.openWorker()
        try await other.ask("breaker users rate=0.5 minimum=20 window=60")
        await #expect(processExitsWith: .success) {
            [path = place.store as String, clock = place.clock.path as String, point = point as String] in
            var configuration = Stores.configuration()
            let clock = try SharedClock(path: clock)
            configuration.clock = clock
            let store = try CircuitStore(path: path, configuration: configuration)
            let breaker = try store.breaker(
                .init(name: "users", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(60))))
            for _ in 0..<19 { let _: Void? = try? breaker.run { throw CallFailure() } }
            guard let core = store.backend.core, let board = core.counting.board else { exit(2) }
            func number(_ column: String) -> Int64 {
                Foreign.number(path, "SELECT \(column) FROM circuit") ?? -1
            }
            let published = try CircuitCells(
                ofID: number("id"), incarnation: number("incarnation"), CountingRules(failureWindow: 60_000_000),
                on: board,
                making: .alone)
            let windowGeneration = WindowGeneration(number("window_generation"))
            Hook.install { name in
                guard name == point else { return }
                Hook.install(nil)
                published.addToWindows(good: 100, inGeneration: windowGeneration, at: core.clock.uptime)
                if name == "check.ends" { clock.advance(by: .seconds(120)) }
            }
            let _: Void? = try? breaker.run { throw CallFailure() }
            core.waitForRateChecks()
            let isClosed = breaker.state == .closed
            store.close()
            exit(isClosed ? 0 : 1)
        }
    }

    /// A process that ends at once after its last call has waited for the answers.
    @Test func whoClosesTripsWhatItHasAsked() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users rate=0.5 minimum=20 window=20")
        #expect(try await workers[1].ask("fail users 20").number("failed") == 20)
        #expect(await workers[1].quit() == 0)
        #expect(try await workers[0].ask("look users")["state"] == "open")
    }

    /// A process that does not use the circuit has no good calls of it.
    @Test func nobodyWaitsForProcessesThatUseOtherCircuits() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers[0].ask("breaker others rate=0.5 minimum=20")
        try await workers[1].ask("breaker users rate=0.5 minimum=20")
        #expect(try await workers[1].ask("fail users 30").number("failed") == 20)
    }

    /// A call whose operation forks ends in two processes, and is counted once.
    @Test(arguments: ["rate=0.5", "failures=50", "consecutive=50", "rate=0.5 slow=1"], ["succeed", "fail"])
    func aForkInsideACallIsCountedOnce(rules: String, end: String) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users \(rules) minimum=50")
        // The runtime makes types under locks of its own, which a child would wait for: most are made by then.
        for question in ["look users", "totals users", "recent users"] { try await workers[0].ask(question) }
        for form in ["", "async"] {
            #expect(try await workers[0].ask("fork-inside users \(end) \(form)").number("exit") == 0, "\(form)")
        }
        #expect(await workers[0].quit() == 0)
        let totals = try await workers[1].ask("totals users")
        #expect(totals.number("succeeded") == (end == "succeed" ? 2 : 0), "\(totals)")
        #expect(totals.number("failed") == (end == "fail" ? 2 : 0), "\(totals)")
        if rules == "failures=50" {
            #expect(try await workers[1].ask("look users").number("counted") == (end == "fail" ? 2 : 0))
        }
    }
}

import BreakerTestSupport
import Testing

/// Time as all processes of a host have it.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ClockTests {
    @Test func steppedWallClockChangesNothing() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breakers c 2 failures=3 window=60 recovery=30")
        try await workers[0].ask("fail c0 3")
        try await workers[0].ask("fail c1 2")
        for hours in [1, -2, 2, -1, -1, 1] {
            place.clock.stepWallTime(by: .seconds(3_600 * hours))
            for worker in workers {
                #expect(try await worker.ask("call c0")["wait"] == "30000000")
                #expect(try await worker.ask("look c1").number("counted") == 2)
            }
        }
        place.clock.stepWallTime(by: .seconds(-3_600))
        place.clock.advance(by: .microseconds(29_999_999))
        // One who joins now knows no other wall clock.
        let third = try await place.openWorker()
        try await third.ask("breakers c 2 failures=3 window=60 recovery=30")
        for worker in workers + [third] { #expect(try await worker.ask("call c0")["wait"] == "1") }
        place.clock.advance(by: .microseconds(1))
        #expect(try await workers[1].ask("call c0").number("ran") == 1)
        try await third.ask("fail c1")
        #expect(try await workers[0].ask("look c1")["state"] == "open")
        #expect(try await third.ask("history c0 tripped").description == "count=1 ordered=true")
    }

    /// After a boot the wall clock says how long the host was down.
    @Test(arguments: [
        (downFor: 10, step: 0, wait: 15_000_000),
        (downFor: 25, step: 0, wait: 0),
        (downFor: 3_600, step: 0, wait: 0),
        // What the file had reserved is over, though only half of it had passed.
        (downFor: 10, step: -3_600, wait: 20_000_000),
        (downFor: 10, step: 3_600, wait: 0),
        // The clock's battery is empty: it starts years ago.
        (downFor: 100, step: -100_000_000, wait: 20_000_000),
    ])
    func rebootWaitsForWhatRemains(downFor: Int, step: Int, wait: Int) async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breaker users failures=1 recovery=30")
        try await first.ask("fail users")
        place.clock.advance(by: .seconds(5))
        // The file knows that 5 s have passed.
        try await first.ask("breaker mail failures=1")
        try await first.ask("fail mail")
        let before = try await Self.storeTime(first, place)
        await first.die()
        place.clock.reboot(downFor: .seconds(downFor))
        place.clock.stepWallTime(by: .seconds(step))

        let second = try await place.openWorker()
        try await second.ask("breaker users failures=1 recovery=30")
        #expect(try await Self.storeTime(second, place) >= before)
        if wait > 0 {
            #expect(try await second.ask("call users").number("wait") == wait)
            place.clock.advance(by: .microseconds(wait - 1))
            #expect(try await second.ask("call users")["wait"] == "1")
            place.clock.advance(by: .microseconds(1))
        }
        #expect(try await second.ask("call users").number("ran") == 1)
        #expect(try await second.ask("history users closed").description == "count=1 ordered=true")
    }

    /// A wall clock that was wrong until somebody set it says rightly how long the host was down, if it was set before
    /// the file noted it last, as a commit does once in 10 s.
    @Test(arguments: [3_600, -3_600])
    func setWallClockShortensNothing(step: Int) async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breaker users failures=1 recovery=100")
        place.clock.stepWallTime(by: .seconds(step))
        place.clock.advance(by: .seconds(10))
        try await first.ask("fail users")
        place.clock.advance(by: .seconds(40))
        await first.die()
        place.clock.reboot(downFor: .seconds(30))

        let second = try await place.openWorker()
        try await second.ask("breaker users failures=1 recovery=100")
        let wait = try await second.ask("call users").number("wait")
        #expect(wait == 30_000_000)
    }

    /// The newest instant that the file knows, in microseconds.
    private static func storeTime(_ worker: WorkerProcess, _ place: Workplace) async throws -> Int {
        let sql = "SELECT max(reserved, coalesce((SELECT max(at) FROM failure), 0)) FROM clock"
        let row = try await worker.ask("query \(place.store) \(sql)")
        return try #require(row.number("row"))
    }
}

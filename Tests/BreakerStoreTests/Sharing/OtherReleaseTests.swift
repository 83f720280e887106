import BreakerTestSupport
import Testing

/// A program of release 0.1.2 beside one of this version, on one file: a rolling deployment, and the way back.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct OtherReleaseTests {
    @Test func countTogetherAndObeyEachOther() async throws {
        let place = try Workplace.here
        let older = try place.start("breaker-worker_0_1_2", [place.clock.path])
        try await older.ask("open \(place.store)")
        let newer = try await place.openWorker()
        for worker in [older, newer] { try await worker.ask("breaker users failures=3 recovery=30") }
        try await older.ask("fail users 2")
        #expect(try await newer.ask("look users").number("counted") == 2)
        try await newer.ask("fail users")
        for worker in [older, newer] { #expect(try await worker.ask("call users").number("refused") == 1) }
        place.clock.advance(by: .seconds(30))
        #expect(try await older.ask("call users").number("ran") == 1)
        #expect(try await newer.ask("look users")["state"] == "closed")
        try await newer.ask("hold users open")
        #expect(try await older.ask("call users").number("refused") == 1)
        try await older.ask("release users")
        #expect(try await newer.ask("call users").number("ran") == 1)
        // The newest registration rules, whichever version it comes from.
        try await newer.ask("breaker users failures=7 recovery=30")
        try await older.ask("fail users 4")
        #expect(try await newer.ask("call users").number("ran") == 1)
        for worker in [older, newer] { #expect(try await worker.ask("health")["health"] == "healthy") }
        #expect(await older.quit() == 0)
    }
}

import BreakerTestSupport
import Foundation
import Testing

@testable import BreakerStore

/// A state that nobody changes reads the same each time, in all processes, by the clocks of the real host.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct SameDateTests {
    private func store(_ path: String) throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.busyTimeout = .hangLimit
        return try CircuitStore(path: path, configuration: configuration)
    }

    /// By how many microseconds store time is moved away from the wall clock before anybody reads: as if the wall clock
    /// had been set since the host booted, for whole seconds or not.
    @Test(arguments: [0, 3_600_500_000, 7_250_000_000, -3_600_499_999, 1_000_000] as [Int64])
    func inTwoProcesses(_ step: Int64) async throws {
        let place = try Workplace.here
        let config = CircuitBreaker.Config(
            name: "users", trip: .consecutiveFailures(1), recovery: RecoveryRule(timeout: .seconds(300)))
        do {
            let store = try self.store(place.store)
            defer { store.close() }
            _ = try store.breaker(config)
        }
        Foreign.run(
            place.store, "UPDATE clock SET offset = offset + \(step), reserved = reserved + \(min(step, 0))")
        let workers = try await place.openWorkers(2, "system-clock")
        try await workers.ask("breaker users failures=1 recovery=300")
        let before = Date()
        try await workers[0].ask("fail users")
        let after = Date()
        var answers: Set<String> = []
        for _ in 0..<2 {
            for worker in workers { answers.insert(try await worker.ask("states users 1000").description) }
        }
        #expect(answers.count == 1)
        let answer = try #require(answers.first)
        #expect(answer.hasPrefix("count=1 state=open until="), "\(answer)")
        let until = try #require(answer.split(separator: "=").last.flatMap { Double($0) }) / 1_000_000
        // The wall clock's time, to the second where the wall clock was set.
        let (earliest, latest) = (before.timeIntervalSince1970 - 2, after.timeIntervalSince1970 + 2)
        #expect((earliest...latest).contains(until - 300), "\(until - 300) is not within \(earliest) and \(latest)")
    }

    @Test func theKernelTellsWhenTheHostBooted() throws {
        let clock = SystemHostClock()
        // Of several readings the one whose two hands were read the soonest after each other.
        let measured = Double(WallOffset(clock).measured) / 1_000_000
        let told = try #require(SystemHostClock.bootSecond)
        #expect(abs(Double(told) - measured) < 2)
    }

    /// A clock of the user's own that is never quite the same twice.
    @Test func byAClockThatTrembles() throws {
        let wall = WallOffset(TremblingClock())
        let first = wall.ahead(ofStoreTimeAt: 0)
        for _ in 0..<1_000 { #expect(wall.ahead(ofStoreTimeAt: 0) == first) }
    }
}

/// Its two hands are up to 200 µs apart.
private struct TremblingClock: HostClock {
    var bootID: String { "trembling" }
    var uptime: Duration { .seconds(1_000) + .microseconds(.random(in: 0...100)) }
    var wallTime: Date { Date(timeIntervalSince1970: 2_000_000_000 + .random(in: 0...0.0001)) }
}

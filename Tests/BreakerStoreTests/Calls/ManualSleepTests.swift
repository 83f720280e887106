import Dispatch
import Testing

@testable import BreakerStore

/// Waits by a clock that the test moves: no real time passes.
@Suite(.timeLimit(.minutes(10))) struct ManualSleepTests {
    private let clock = ManualHostClock()

    private func sleeper(_ duration: Duration) -> Task<Bool, Never> {
        Task.detached { [clock] in (try? await clock.sleep(for: duration)) != nil }
    }

    @Test func wakesWhenItsTimeHasCome() async {
        let early = self.sleeper(.seconds(10))
        let late = self.sleeper(.seconds(20))
        await self.clock.waitForSleepers(2)
        self.clock.advance(by: .seconds(10))
        #expect(await early.value)
        self.clock.reboot(downFor: .seconds(100))
        self.clock.advance(by: .milliseconds(9_999))
        await self.clock.waitForSleepers()
        self.clock.advance(by: .milliseconds(1))
        #expect(await late.value)
        #expect(await self.sleeper(.zero).value)
        #expect(await self.sleeper(.seconds(-1)).value)
    }

    @Test func aCancelledTaskWakesAtOnce() async {
        let sleeper = self.sleeper(.seconds(10))
        await self.clock.waitForSleepers()
        sleeper.cancel()
        #expect(await !sleeper.value)
        let cancelled = Task.detached { [clock] in
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return (try? await clock.sleep(for: .seconds(10))) != nil
        }
        #expect(await !cancelled.value)
        let waiter = Task.detached { [clock] in await clock.waitForSleepers() }
        waiter.cancel()
        await waiter.value
    }

    /// Who advances the clock only after the sleepers have come never waits for ever.
    @Test func nobodyIsMissed() async {
        for _ in 0..<300 {
            let sleepers = (0..<4).map { _ in self.sleeper(.seconds(1)) }
            await self.clock.waitForSleepers(4)
            self.clock.advance(by: .seconds(1))
            for sleeper in sleepers { #expect(await sleeper.value) }
        }
    }

    @Test func retriesWaitByTheStoresClock() async throws {
        let fixture = try StoreFixture()
        var calls = CallPolicy()
        calls.retry = .constant(maxRetries: 2, delay: .seconds(3_600))
        let breaker = try fixture.breaker(trip: .failures(100, within: .seconds(60)), calls: calls)
        let passing = fixture.pass(.seconds(3_600), times: 4)
        var attempts = 0
        await #expect(throws: CallFailure.self) {
            try await breaker.run {
                attempts += 1
                throw CallFailure()
            }
        }
        // On a thread of its own: the synchronous form blocks it.
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        DispatchQueue.global().async {
            _ = try? breaker.run { () throws -> Void in throw CallFailure() }
            ended.finish()
        }
        for await _ in ends {}
        await passing.value
        #expect(attempts == 3)
    }
}

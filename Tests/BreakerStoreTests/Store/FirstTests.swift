import BreakerStore
import Testing

struct Boom: Error {}

@Suite struct FirstTests {
    @Test func tripsRefusesAndRecovers() async throws {
        let clock = ManualHostClock()
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        let store = try CircuitStore.temporary(configuration: configuration)
        defer { store.close() }
        let breaker = try store.breaker(
            .init(name: "a", recoveryTimeout: .seconds(30), maxFailures: 3, rollingWindow: .seconds(60))
        )
        #expect(try await breaker.run { 1 } == 1)
        for _ in 0..<3 {
            await #expect(throws: Boom.self) { try await breaker.run { throw Boom() } }
        }
        await #expect(throws: CircuitOpenError.self) { try await breaker.run { 1 } }
        #expect(throws: CircuitOpenError.self) { try { try breaker.run { 1 } }() }
        clock.advance(by: .seconds(30))
        #expect(try await breaker.run { 2 } == 2)
        #expect(breaker.state == .closed)
        #expect(breaker.failureCount == 0)
    }
}

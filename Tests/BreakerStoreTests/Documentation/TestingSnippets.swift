import BreakerStore
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// The code of "Testing your service": a service and its tests, which run here as they stand there.

// snippet
struct UserNames {
    let circuit: CircuitBreaker
    let api: API

    func name() async throws -> String {
        try await self.circuit.run {
            try await self.api.fetchUser()
        } fallback: { _ in
            "somebody"
        }
    }
}
// end of snippet

// snippet
@Suite(.timeLimit(.minutes(1))) struct UserNamesTests {
    let clock = ManualHostClock()
    let store: CircuitStore
    let users: CircuitBreaker

    init() throws {
        var configuration = CircuitStore.Configuration()
        configuration.clock = self.clock
        configuration.busyTimeout = .seconds(20)
        self.store = try CircuitStore.temporary(configuration: configuration)
        self.users = try self.store.breaker(
            .init(name: "users", recoveryTimeout: .seconds(30), maxFailures: 2, rollingWindow: .seconds(60))
        )
    }
}
// end of snippet

extension UserNamesTests {
    // snippet
    @Test func theCircuitRecovers() async throws {
        let names = UserNames(circuit: self.users, api: API(error: HTTPError(status: 503)))
        #expect(try await names.name() == "somebody")
        #expect(try await names.name() == "somebody")
        #expect(self.users.state.isOpen && !self.users.isCallPermitted)
        self.clock.advance(by: .seconds(30))
        #expect(self.users.isCallPermitted)  // as a probe
        #expect(try await UserNames(circuit: self.users, api: API()).name() == "Ada")
        #expect(self.users.state.isClosed)
    }
    // end of snippet

    // snippet
    @Test func aSlowCallIsAFailure() async throws {
        var calls = CallPolicy()
        calls.timeout = .seconds(3)
        let slow = try self.store.breaker(.init(name: "slow"), calls: calls)
        let call = Task { try await slow.run { try await Task.sleep(for: .seconds(3_600)) } }
        await self.clock.waitForSleepers()
        self.clock.advance(by: .seconds(3))
        await #expect(throws: CallTimeoutError.self) { try await call.value }
        #expect(slow.failureCount == 1)
    }
    // end of snippet

    // snippet
    @Test func aFailedCallIsMadeAgain() async throws {
        var calls = CallPolicy()
        calls.retry = .constant(maxRetries: 1, delay: .seconds(5))
        let retried = try self.store.breaker(.init(name: "retried"), calls: calls)
        let call = Task { try await retried.run { try await API(error: HTTPError(status: 503)).fetchUser() } }
        await self.clock.waitForSleepers()  // the first attempt has failed
        self.clock.advance(by: .seconds(5))
        await #expect(throws: HTTPError.self) { try await call.value }
        #expect(retried.failureCount == 2)
    }
    // end of snippet

    // snippet
    @Test func aFailedCallWithATimeOutIsMadeAgain() async throws {
        var calls = CallPolicy()
        calls.timeout = .seconds(3)
        calls.retry = .constant(maxRetries: 1, delay: .seconds(5))
        let retried = try self.store.breaker(.init(name: "retried"), calls: calls)
        let call = Task { try await retried.run { try await API(error: HTTPError(status: 503)).fetchUser() } }
        while retried.failureCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
        await self.clock.waitForSleepers()  // the delay: the timer of an attempt ends before its failure counts
        self.clock.advance(by: .seconds(5))
        await #expect(throws: HTTPError.self) { try await call.value }
        #expect(retried.failureCount == 2)
    }
    // end of snippet

    // snippet
    @Test func aLostFileIsReported() async throws {
        let told = Mutex<[StoreHealth]>([])
        var configuration = CircuitStore.Configuration()
        configuration.onHealth = { health in told.withLock { $0.append(health) } }
        let store = try CircuitStore.temporary(configuration: configuration)
        let users = try store.breaker(.init(name: "users", trip: .consecutiveFailures(1)))
        let directory = URL(fileURLWithPath: store.path).deletingLastPathComponent()
        let elsewhere = directory.appendingPathExtension("away")
        try FileManager.default.moveItem(at: directory, to: elsewhere)
        await users.recordFailure()
        #expect(!store.health.isHealthy && !users.isCallPermitted)
        while told.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
        #expect(told.withLock { $0.first?.isHealthy } == false)
        try FileManager.default.moveItem(at: elsewhere, to: directory)
        while !store.health.isHealthy { try await Task.sleep(for: .milliseconds(1)) }
    }
    // end of snippet

    // snippet
    @Test func anOpenCircuitRefuses() async throws {
        try await self.store.hold("users", .open, by: "ann", reason: "maintenance")
        let refusal = await #expect(throws: CircuitOpenError.self) { try await self.users.run {} }
        #expect(refusal?.name == "users" && refusal?.cause == .held && refusal?.hold?.by == "ann")
        #expect(try await UserNames(circuit: self.users, api: API()).name() == "somebody")
        try await self.store.release("users")
        #expect(try await UserNames(circuit: self.users, api: API()).name() == "Ada")
    }
    // end of snippet

    // snippet
    @Test func aRefusalSaysWhenToTryAgain() throws {
        func retryAfterHeader(_ error: any Error) -> String? {
            guard let wait = (error as? CircuitOpenError)?.retryAfter else { return nil }
            let (seconds, rest) = wait.components
            return "\(rest > 0 ? seconds + 1 : seconds)"
        }
        #expect(retryAfterHeader(CircuitOpenError(name: "users", retryAfter: .seconds(12))) == "12")
        #expect(retryAfterHeader(CircuitOpenError(name: "users", retryAfter: .milliseconds(200))) == "1")
    }
    // end of snippet

    // snippet
    @Test func aCallbackReportsItsFailure() async throws {
        let permit = try await self.users.admit()
        API(error: HTTPError(status: 503)).fetch { result in
            switch result {
            case .success: permit.succeedLater()
            case .failure(let error): permit.failLater(error)
            }
        }
        while self.users.failureCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(self.users.failureCount == 1)
    }
    // end of snippet

    // snippet
    @Test func theWallClockEndsNoOutage() throws {
        for _ in 0..<2 { self.users.recordFailure() }
        self.clock.stepWallTime(by: .seconds(3_600))
        #expect(!self.users.isCallPermitted)
        self.clock.advance(by: .seconds(30))
        #expect(self.users.isCallPermitted)
    }
    // end of snippet

    // snippet
    @Test func circuitsAreShown() {
        func line(_ circuit: CircuitSnapshot) -> String { "\(circuit.name): \(circuit.lastError ?? "well")" }
        func alert(_ event: CircuitEvent) -> String? {
            event.kind == .tripped && event.isOwn ? "\(event.circuit ?? "") tripped: \(event.reason ?? "")" : nil
        }
        let snapshot = CircuitSnapshot(name: "users", config: .init(name: "users"), since: .now, lastError: "HTTPError")
        #expect(line(snapshot) == "users: HTTPError")
        let event = CircuitEvent(id: 1, circuit: "users", kind: .tripped, at: .now, reason: "2 failures", isOwn: true)
        #expect(alert(event) == "users tripped: 2 failures")
        #expect(CallOutcome(circuit: "users", result: .failed, duration: .seconds(1)).result == .failed)
    }
    // end of snippet

    // snippet
    @Test func callsAreCounted() async throws {
        let results = Mutex<[CallOutcome.Result]>([])
        var calls = CallPolicy()
        calls.onOutcome = { outcome in results.withLock { $0.append(outcome.result) } }
        let watched = try self.store.breaker(.init(name: "watched"), calls: calls)
        _ = try await UserNames(circuit: watched, api: API()).name()
        _ = try await UserNames(circuit: watched, api: API(error: HTTPError(status: 500))).name()
        try await self.store.hold("watched", .open)
        _ = try await UserNames(circuit: watched, api: API()).name()
        #expect(results.withLock { $0 } == [.succeeded, .failed, .refused])
    }
    // end of snippet

    // snippet
    @Test func workersShareTheCircuit() async throws {
        let other = try CircuitStore(path: self.store.path)
        defer { other.close() }
        let theirs = try other.breaker(named: "users")
        await theirs.recordFailure()
        #expect(self.users.failureCount == 1)
        await theirs.recordFailure()
        await #expect(throws: CircuitOpenError.self) { try await self.users.run {} }
    }
    // end of snippet
}

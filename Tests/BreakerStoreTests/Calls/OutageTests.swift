import Testing

@testable import BreakerStore

/// A service that says it is down opens the circuit at once, for all processes.
@Suite(.timeLimit(.minutes(10))) struct OutageTests {
    private let fixture: StoreFixture
    private let log = OutcomeLog()

    init() throws { self.fixture = try StoreFixture() }

    private func policy(_ time: Duration?) -> CallPolicy {
        var calls = CallPolicy(
            classify: { $0 is CallFailure ? .outage(for: time) : CallPolicy().classify($0) },
            describe: { _ in "503" })
        calls.onOutcome = self.log.add
        return calls
    }

    /// Each way to report; the circuit has a threshold of 3.
    enum Way: CaseIterable {
        case run, synchronousRun, timedRun, value, permit, permitLater, recorded, synchronouslyRecorded
    }

    @Test(arguments: Way.allCases)
    func opensTheCircuitAtOnce(_ way: Way) async throws {
        var calls = self.policy(.seconds(90))
        if way == .timedRun { calls.timeout = .seconds(5) }
        let breaker = try self.fixture.breaker(calls: calls)
        let down = CallFailure()
        switch way {
        case .run, .timedRun: await #expect(throws: down) { try await breaker.run { throw down } }
        case .synchronousRun: #expect(throws: down) { try synchronously { try breaker.run { throw down } } }
        case .value: #expect(try await breaker.run({ 503 }, failure: { $0 == 503 ? down : nil }) == 503)
        case .permit: await (try await breaker.admit()).fail(down)
        case .permitLater:
            try await breaker.admit().failLater(down)
            #expect(await eventually { breaker.state.isOpen })
        case .recorded: await breaker.recordFailure(down)
        case .synchronouslyRecorded: synchronously { breaker.recordFailure(down) }
        }
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.retryAfter == .seconds(90))
        #expect(error?.lastError == "503")
        #expect(breaker.state.isOpen)
        let history = try await self.fixture.store.history(of: "a")
        #expect(history.first?.kind == .tripped)
        #expect(history.first?.reason == "the service said that it is down for 90 s: 503")
        #expect(self.log.results.prefix(1) == [.failed])
        self.fixture.clock.advance(by: .seconds(89))
        #expect(!breaker.isCallPermitted)
        self.fixture.clock.advance(by: .seconds(1))
        #expect(try await breaker.run { 1 } == 1)
        #expect(breaker.state == .closed)
    }

    /// Named time, and when the next call may run; the rule says 30 s, and its cap for outages is a day.
    @Test(
        arguments: [
            (nil, 30), (.seconds(10_000), 10_000), (.seconds(100_000), 86_400), (.zero, 0), (.seconds(-9), 0),
        ] as [(Duration?, Int)])
    func theTimeIsCutToTheCap(_ time: Duration?, _ seconds: Int) async throws {
        let breaker = try self.fixture.breaker(calls: self.policy(time))
        await breaker.recordFailure(CallFailure())
        #expect(breaker.state.isOpen)
        if seconds > 0 {
            self.fixture.clock.advance(by: .seconds(seconds) - .microseconds(1))
            #expect(!breaker.isCallPermitted)
            self.fixture.clock.advance(by: .microseconds(1))
        }
        #expect(breaker.isCallPermitted)
    }

    @Test func aProbeReopensForTheNamedTime() async throws {
        let breaker = try await self.fixture.dueBreaker(calls: self.policy(.seconds(45)))
        self.fixture.clock.advance(by: .seconds(60))
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.retryAfter == .seconds(45))
        let history = try await self.fixture.store.history(of: "a")
        #expect(history.first?.kind == .reopened)
        #expect(history.first?.reason == "the service said that it is down for 45 s: 503")
    }

    /// The circuit is open after the first attempt, and a call does not wait for a circuit that refuses.
    @Test func isNotTriedAgainAndGetsTheFallback() async throws {
        var calls = self.policy(.seconds(90))
        calls.retry = .constant(maxRetries: 3, delay: .seconds(1))
        let breaker = try self.fixture.breaker(calls: calls)
        var ran = 0
        let value = try await breaker.run {
            ran += 1
            throw CallFailure()
        } fallback: { _ in
            7
        }
        #expect(value == 7)
        #expect(ran == 1)
    }

    /// Memory opens its circuit at once, and the file learns what is left of the time.
    @Test func whileTheFileCanNotBeUsed() async throws {
        let clock = ManualHostClock()
        let store = try StoreFixture.makeStore(clock, busyTimeout: .milliseconds(50))
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a"), calls: self.policy(.seconds(90)))
        let lock = try WriteLock(store)
        await breaker.recordFailure(CallFailure())
        #expect(!store.isHealthy)
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.retryAfter == .seconds(90))
        clock.advance(by: .seconds(20))
        try lock.release()
        #expect(await eventually { store.isHealthy && breaker.state.isOpen })
        #expect(await eventually { (try? store.circuit(named: "a")?.state.isOpen) == true })
        let refusal = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(refusal?.retryAfter == .seconds(70))
    }

    /// A probe of the fallback hears that the outage goes on: the file learns it.
    @Test func theFileLearnsWhatAProbeOfMemoryHears() async throws {
        let clock = ManualHostClock()
        let store = try StoreFixture.makeStore(clock, busyTimeout: .milliseconds(50))
        defer { store.close() }
        let breaker = try store.breaker(.init(name: "a"), calls: self.policy(.seconds(90)))
        await breaker.recordFailure(CallFailure())
        clock.advance(by: .seconds(90))
        let lock = try WriteLock(store)
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        #expect(!store.isHealthy)
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.retryAfter == .seconds(90))
        clock.advance(by: .seconds(20))
        try lock.release()
        #expect(await eventually { store.isHealthy })
        #expect(await eventually { (try? store.circuit(named: "a")?.isDue) == false })
        let refusal = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(refusal?.retryAfter == .seconds(70))
        #expect(try await store.history(of: "a").map(\.kind).contains(.extended))
    }

    /// The file is there for a moment, and lost again before it has taken the report.
    @Test func memoryOpensNoCircuitForAnOutageThatIsOver() async throws {
        let clock = ManualHostClock()
        let store = try StoreFixture.makeStore(clock, busyTimeout: .milliseconds(50))
        defer { store.close() }
        let core = try #require(store.backend.core)
        let breaker = try store.breaker(.init(name: "a"), calls: self.policy(nil))
        let lock = try WriteLock(store)
        await breaker.recordFailure(CallFailure())
        #expect(!breaker.isCallPermitted)
        clock.advance(by: .seconds(3_600))
        breaker.circuit.resetFallback()
        core.commitReports()
        #expect(!store.isHealthy)
        #expect(breaker.isCallPermitted)
        #expect(try await breaker.run { 1 } == 1)
        try lock.release()
    }

    /// Many calls are in flight, and each gets the provider's answer: the first one commits.
    @Test func manyAnswersOfOneOutageAreOneCommit() async throws {
        let breaker = try self.fixture.breaker(calls: self.policy(.seconds(90)))
        var permits: [CallPermit] = []
        for _ in 0..<200 { permits.append(try await breaker.admit()) }
        let observer = Foreign(self.fixture.store.path)
        let before = observer.value("PRAGMA data_version")
        await permits.removeFirst().fail(CallFailure())
        let first = observer.value("PRAGMA data_version")
        #expect(first != before)
        for permit in permits { await permit.fail(CallFailure()) }
        for _ in 0..<20 { await breaker.recordFailure(CallFailure()) }
        #expect(observer.value("PRAGMA data_version") == first)
        #expect(try await self.fixture.store.history(of: "a").map(\.kind) == [.tripped])
        #expect(try await self.fixture.store.circuit(named: "a")?.totals.failed == 220)
    }

    @Test func aLaterEndOfAnotherCallExtends() async throws {
        let short = try self.fixture.breaker(calls: self.policy(.seconds(90)))
        let long = try self.fixture.breaker(calls: self.policy(.seconds(7_200)))
        let permit = try await long.admit()
        await short.recordFailure(CallFailure())
        await permit.fail(CallFailure())
        let refusal = await #expect(throws: CircuitOpenError.self) { try await short.run {} }
        #expect(refusal?.retryAfter == .seconds(7_200))
        #expect(refusal?.retryAfterSeconds == 7_200)
        #expect(try await self.fixture.store.history(of: "a").map(\.kind) == [.extended, .tripped])
        await short.recordFailure(CallFailure())
        #expect(try await self.fixture.store.history(of: "a").count == 2)
    }
}

import BreakerTestSupport
import Dispatch
import Synchronization
import Testing

@testable import BreakerStore

/// Rules about shares of the calls, and observing circuits, in a real store.
@Suite(.timeLimit(.minutes(10))) struct RateRuleTests {
    private let fixture: StoreFixture
    private var store: CircuitStore { self.fixture.store }

    init() throws { self.fixture = try StoreFixture() }

    private func breaker(
        _ name: String = "a", share: Double = 0.5, minimumCalls: Int = 20, slow: SlowCallRule? = nil,
        trip: TripRule? = nil, mode: CircuitMode = .enforcing
    ) throws -> CircuitBreaker {
        try self.store.breaker(
            .init(
                name: name, trip: trip ?? .failureRate(share, minimumCalls: minimumCalls, within: .seconds(10)),
                slow: slow, recovery: RecoveryRule(timeout: .seconds(30)), mode: mode))
    }

    private func call(_ breaker: CircuitBreaker, fails: Bool, taking time: Duration = .zero) async {
        try? await breaker.run {
            self.fixture.clock.advance(by: time)
            await Task.yield()
            if fails { throw CallFailure() }
        }
    }

    private func callHere(_ breaker: CircuitBreaker, fails: Bool, taking time: Duration = .zero) {
        try? breaker.run { () throws in
            self.fixture.clock.advance(by: time)
            if fails { throw CallFailure() }
        }
    }

    @Test(arguments: [false, true]) func tripsAtItsRate(isAsync: Bool) async throws {
        let breaker = try self.breaker()
        for number in 1...20 {
            #expect(breaker.state == .closed, "\(number)")
            if isAsync {
                await self.call(breaker, fails: number > 10)
            } else {
                synchronously { self.callHere(breaker, fails: number > 10) }
            }
        }
        #expect(breaker.state.isOpen)
        let reason = try await self.store.history(of: "a").first?.reason
        #expect(reason?.hasPrefix("10 of 20 calls (50 %) failed within 10 s, the last: ") == true)
        #expect(self.fixture.isHealthy)
    }

    /// A share that was reached while nobody waited any more for the thread that counts: it trips all the same, and
    /// needs no other failing call.
    @Test func aRateThatWasCountedLateTrips() async throws {
        let fixture = try StoreFixture(busyTimeout: .milliseconds(50))
        let core = try #require(fixture.core)
        let breaker = try fixture.breaker(trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(10)))
        await self.call(breaker, fails: false)
        let isFree = DispatchSemaphore(value: 0)
        core.countingJobs.run { isFree.wait() }
        for _ in 0..<20 { await self.call(breaker, fails: true) }
        #expect(breaker.state == .closed)
        isFree.signal()
        #expect(await eventually { breaker.state.isOpen })
    }

    /// What is moved to the board before the first failure counts, too: on the board, in memory and for slow calls.
    @Test func callsBeforeTheFirstFailureCount() async throws {
        let core = try #require(self.fixture.core)
        let breaker = try self.breaker(slow: SlowCallRule(longerThan: .seconds(5), share: 0.5, minimumCalls: 20))
        for _ in 0..<10 { await self.call(breaker, fails: false) }
        core.publishAllCounts()
        self.fixture.clock.advance(by: .seconds(1))
        core.publishAllCounts()
        for _ in 0..<10 { await self.call(breaker, fails: true) }
        #expect(breaker.state.isOpen)
        // After a recovery, too.
        self.fixture.clock.advance(by: .seconds(30))
        await self.call(breaker, fails: false)
        #expect(breaker.state == .closed)
        for _ in 0..<10 { await self.call(breaker, fails: false) }
        core.publishAllCounts()
        // The probe's success is moved with the others, and is in no window.
        for _ in 0..<9 { await self.call(breaker, fails: true) }
        #expect(breaker.state == .closed)
        await self.call(breaker, fails: true)
        #expect(breaker.state.isOpen)
    }

    /// Memory, too, knows the calls that went well before the first failure.
    @Test func memoryKnowsTheCallsBeforeTheFirstFailure() async throws {
        let core = try #require(self.fixture.core)
        let breaker = try self.breaker(minimumCalls: 10)
        await self.call(breaker, fails: false)
        // The window generation in memory is another one than that of the file.
        self.fixture.clock.advance(by: .seconds(1))
        self.store.close()
        for _ in 0..<100 { await self.call(breaker, fails: false) }
        core.publishAllCounts()
        for number in 1...20 {
            await self.call(breaker, fails: true)
            #expect(breaker.isCallPermitted, "\(number) of \(100 + number) calls failed")
        }
    }

    /// A failure that trips nothing commits nothing and waits for nobody: somebody else has the write lock meanwhile.
    @Test func needsNoWriterUntilItTrips() async throws {
        let breaker = try self.breaker(share: 0.5, minimumCalls: 50)
        let before = self.fixture.commits
        let lock = try WriteLock(self.store)
        for _ in 0..<40 { await self.call(breaker, fails: true) }
        for _ in 0..<5 { synchronously { breaker.recordFailure() } }
        #expect(self.fixture.isHealthy)
        #expect(breaker.totals.failed == 45)
        try lock.release()
        for _ in 0..<5 { await breaker.recordFailure() }
        #expect(breaker.state.isOpen)
        #expect(self.fixture.commits == before + 1)
    }

    /// To describe an error costs more than to count a failure: the policy is asked for one within 50 ms, which the
    /// board gets, and for the one that trips.
    @Test func describesOneErrorAtATime() async throws {
        let asked = Atomic<Int>(0)
        let number = Atomic<Int>(0)
        let policy = CallPolicy(describe: { _ in
            "failure \(asked.wrappingAdd(1, ordering: .relaxed).newValue) of \(number.load(ordering: .relaxed))"
        })
        let breaker = try self.store.breaker(
            .init(name: "a", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(60))), calls: policy)
        func fail() async {
            number.wrappingAdd(1, ordering: .relaxed)
            await self.call(breaker, fails: true)
        }
        for _ in 0..<10 { await fail() }
        #expect(asked.load(ordering: .relaxed) == 1)
        #expect(try await self.store.circuit(named: "a")?.lastError == "failure 1 of 1")
        self.fixture.clock.advance(by: .milliseconds(50))
        for _ in 0..<9 { await fail() }
        #expect(asked.load(ordering: .relaxed) == 2)
        await fail()
        #expect(breaker.state.isOpen)
        #expect(try await self.store.circuit(named: "a")?.lastError == "failure 3 of 20")
    }

    /// A late end brings along what went well before anybody looked: that is within the window.
    @Test func aLateEndBeginsTheWindow() async throws {
        let breaker = try self.breaker(minimumCalls: 4)
        let late = try synchronously { try breaker.admit() }
        for _ in 0..<4 { await self.call(breaker, fails: true) }
        #expect(breaker.state.isOpen)
        self.fixture.clock.advance(by: .seconds(30))
        await self.call(breaker, fails: false)
        #expect(breaker.state == .closed)
        try #require(self.fixture.core).publishAllCounts()
        self.fixture.clock.advance(by: .seconds(60))
        for _ in 0..<10 { await self.call(breaker, fails: false) }
        await late.fail()
        #expect(try await self.store.circuit(named: "a")?.recent?.calls == 10)
    }

    /// A failure that says nothing does not keep the next one from being told.
    @Test func aFailureWithoutWordsTakesNoPlace() async throws {
        let breaker = try self.breaker()
        await breaker.recordFailure()
        await self.call(breaker, fails: true)
        #expect(try await self.store.circuit(named: "a")?.lastError?.contains("Failure") == true)
    }

    @Test func oldCallsCountNoLonger() async throws {
        let breaker = try self.breaker(share: 0.5, minimumCalls: 10)
        for _ in 0..<9 { await self.call(breaker, fails: true) }
        // A window and a tick.
        self.fixture.clock.advance(by: .milliseconds(10_626))
        for _ in 0..<9 { await self.call(breaker, fails: true) }
        #expect(breaker.state == .closed)
        await self.call(breaker, fails: true)
        #expect(breaker.state.isOpen)
    }

    /// A recovery begins the window anew; calls that were let through before it count in totals alone.
    @Test func lateOutcomesTripNothing() async throws {
        let core = try #require(self.fixture.core)
        let breaker = try self.breaker(share: 0.5, minimumCalls: 6)
        let late = try (0..<10).map { _ in try synchronously { try breaker.admit() } }
        for _ in 0..<6 { await self.call(breaker, fails: true) }
        #expect(breaker.state.isOpen)
        self.fixture.clock.advance(by: .seconds(30))
        await self.call(breaker, fails: false)
        #expect(breaker.state == .closed)
        // The probe's success is moved to the board by a tick or by the next bad end: it is in the window, or before.
        core.publishAllCounts()
        for permit in late { await permit.fail() }
        for _ in 0..<4 { await self.call(breaker, fails: true) }
        #expect(breaker.state == .closed)
        for _ in 0..<2 { await self.call(breaker, fails: true) }
        #expect(breaker.state.isOpen)
    }

    // MARK: - Slow calls

    /// Quick failures are calls to the rule about slow ones, from the first on, and slow successes to that about
    /// failures.
    @Test func theFirstFailuresOfOneRuleAreCallsOfTheOther() async throws {
        let slow = SlowCallRule(longerThan: .milliseconds(100), share: 0.5, minimumCalls: 10, within: .seconds(60))
        let one = try self.breaker("one", slow: slow, trip: .failures(1_000, within: .seconds(60)))
        for _ in 0..<15 { await self.call(one, fails: true) }
        for _ in 0..<10 { await self.call(one, fails: false, taking: .milliseconds(101)) }
        #expect(one.state == .closed, "10 of 25 calls were slow")
        let seldom = SlowCallRule(longerThan: .milliseconds(100), share: 1, minimumCalls: 1_000, within: .seconds(60))
        let other = try self.breaker("other", minimumCalls: 10, slow: seldom)
        for _ in 0..<15 { await self.call(other, fails: false, taking: .milliseconds(101)) }
        for _ in 0..<10 { await self.call(other, fails: true) }
        #expect(other.state == .closed, "10 of 25 calls failed")
    }

    @Test func slowCallsTripBesideFailures() async throws {
        let slow = SlowCallRule(longerThan: .milliseconds(100), share: 0.5, minimumCalls: 4, within: .seconds(60))
        let breaker = try self.breaker(slow: slow, trip: .failures(1_000, within: .seconds(60)))
        await self.call(breaker, fails: false, taking: .milliseconds(100))
        await self.call(breaker, fails: false, taking: .milliseconds(100))
        await self.call(breaker, fails: false, taking: .milliseconds(101))
        #expect(breaker.state == .closed)
        await self.call(breaker, fails: false, taking: .milliseconds(101))
        #expect(breaker.state.isOpen)
        // A probe that is slow is no better than one that fails.
        self.fixture.clock.advance(by: .seconds(30))
        await self.call(breaker, fails: false, taking: .milliseconds(101))
        #expect(breaker.state.isOpen)
        self.fixture.clock.advance(by: .seconds(30))
        await self.call(breaker, fails: false)
        #expect(breaker.state == .closed)
    }

    /// A failure that asked for no admission is a call to the rule about slow ones, too.
    @Test(arguments: [false, true]) func recordedFailuresAreCalls(isAsync: Bool) async throws {
        let slow = SlowCallRule(longerThan: .milliseconds(100), share: 0.5, minimumCalls: 4, within: .seconds(60))
        let breaker = try self.breaker(slow: slow, trip: .failures(1_000, within: .seconds(60)))
        await self.call(breaker, fails: false, taking: .milliseconds(101))
        for _ in 0..<2 {
            if isAsync { await breaker.recordFailure() } else { synchronously { breaker.recordFailure() } }
        }
        #expect(try await self.store.circuit(named: "a")?.recent?.slowCalls == 3)
        #expect(breaker.failureCount == 2)
    }

    /// Another process registers a window of which this one has not looked at the sums yet.
    @Test func aRateOfAnotherWindowTripsNothing() async throws {
        let breaker = try self.breaker(share: 0.5, minimumCalls: 20)
        let core = try #require(self.fixture.core)
        for _ in 0..<100 { await self.call(breaker, fails: false) }
        core.publishAllCounts()
        self.fixture.clock.advance(by: .seconds(1))
        core.publishAllCounts()
        self.fixture.clock.advance(by: .seconds(30))
        for _ in 0..<15 { await self.call(breaker, fails: true) }
        let epoch = try #require(try breaker.storedEpoch)
        try self.store.patiently {
            _ = try $0.breaker(
                .init(name: "a", trip: .failureRate(0.5, minimumCalls: 10, within: .seconds(60))))
        }
        try await core.commit(until: Deadline(after: .hangLimit)) {
            (transaction) throws(BreakerStoreError) in
            try core.tripByRate(breaker.circuit, epoch: epoch, error: nil, transaction)
        }
        #expect(breaker.state == .closed)
        await self.call(breaker, fails: true)
        #expect(breaker.state == .closed, "16 of 116 calls")
    }

    // MARK: - Observing

    @Test func observesWithoutRefusing() async throws {
        let breaker = try self.breaker(trip: .failures(3, within: .seconds(60)), mode: .observing)
        var ran = 0
        for _ in 0..<1_000 {
            do {
                try await breaker.run {
                    ran += 1
                    throw CallFailure()
                }
            } catch {
                #expect(error is CallFailure)
            }
        }
        #expect(ran == 1_000)
        #expect(breaker.state.isOpen)
        #expect(breaker.isCallPermitted)
        let trips = try await self.store.history(of: "a").filter { $0.kind == .tripped }
        #expect(trips.count == 1)
        self.fixture.clock.advance(by: .seconds(30))
        await self.call(breaker, fails: false)
        #expect(breaker.state == .closed)
        // One registration enforces.
        for _ in 0..<3 { await self.call(breaker, fails: true) }
        _ = try self.breaker(trip: .failures(3, within: .seconds(60)))
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
    }

    // MARK: - Without the file

    @Test func fallbackGuardsByTheSameRule() async throws {
        let breaker = try self.breaker(share: 0.5, minimumCalls: 4)
        await self.call(breaker, fails: false)
        self.store.close()
        for _ in 0..<2 { await self.call(breaker, fails: true) }
        #expect(breaker.isCallPermitted)
        await self.call(breaker, fails: true)
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
    }

    /// A call that memory let through before a trip and a recovery is not counted against what came after.
    @Test func lateOutcomesTripNothingInMemory() async throws {
        let breaker = try self.store.breaker(
            .init(
                name: "a", trip: .failureRate(0.5, minimumCalls: 4, within: .seconds(60)),
                recovery: RecoveryRule(timeout: .seconds(1))))
        self.store.close()
        let permits = try (0..<4).map { _ in try synchronously { try breaker.admit() } }
        for _ in 0..<4 { await self.call(breaker, fails: true) }
        #expect(breaker.state.isOpen)
        self.fixture.clock.advance(by: .seconds(2))
        await self.call(breaker, fails: false)
        #expect(breaker.state == .closed)
        for permit in permits { await permit.fail() }
        #expect(breaker.state == .closed)
    }
}

import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What a link sees of a file: each field, as of one instant.
@Suite(.timeLimit(.minutes(10))) struct LinkedCircuitTests {
    private let fixture: StoreFixture
    private var store: CircuitStore { self.fixture.store }

    init() throws { self.fixture = try StoreFixture() }

    private func seen(_ name: String = "a") throws -> LinkedCircuit {
        try #require(try self.store.linkedCircuits(matching: name).first)
    }

    private func advance(_ seconds: Int) { self.fixture.clock.advance(by: .seconds(seconds)) }

    @Test func aClosedCircuitWithFailures() throws {
        let config = CircuitBreaker.Config(
            name: "a", group: "G", trip: .failures(3, within: .seconds(60)),
            recovery: RecoveryRule(timeout: .seconds(30), multiplier: 2, cap: .seconds(300), jitter: 0.5))
        let breaker = try self.store.breaker(config)
        breaker.recordFailure(CallFailure())
        self.advance(20)
        breaker.recordFailure(CallFailure())
        self.advance(5)
        let seen = try self.seen()
        let keys = seen.failures.map(\.key)
        let worker = try #require(self.fixture.core?.writer.opened?.worker.id)
        #expect(keys.map(\.worker) == [worker, worker])
        #expect(Set(keys).count == 2)
        #expect(seen.failures.map(\.age) == [25_000_000, 5_000_000])
        let snapshot = try #require(try self.store.circuit(named: "a"))
        let expected = LinkedCircuit(
            name: "a", epoch: Epoch(snapshot.epoch), state: .closed, counting: .init(failures: 3, window: 60_000_000),
            recovery: 30_000_000, longestRecovery: 86_400_000_000, failures: seen.failures,
            lastError: snapshot.lastError)
        #expect(seen == expected)
        #expect(seen.lastError != nil)
        // Inclusive: a failure as old as the window counts.
        self.advance(35)
        #expect(try self.seen().failures.map(\.age) == [60_000_000, 40_000_000])
        self.fixture.clock.advance(by: .microseconds(1))
        #expect(try self.seen().failures.map(\.age) == [40_000_001])
    }

    @Test func anOutage() throws {
        let breaker = try self.store.breaker(
            .init(
                name: "a", trip: .consecutiveFailures(2),
                recovery: RecoveryRule(timeout: .seconds(30), multiplier: 2, cap: .seconds(300))))
        for _ in 0..<2 { breaker.recordFailure() }
        self.advance(10)
        var seen = try self.seen()
        #expect(seen.state == .open(left: 20_000_000))
        #expect(seen.counting == .init(failures: 2, window: nil))
        #expect(seen.tripsInARow == 1)
        #expect(seen.recovery == 60_000_000)
        #expect(seen.longestRecovery == 86_400_000_000)
        #expect(seen.failures.map(\.age) == [10_000_000, 10_000_000])
        #expect(seen.transition?.kind == .tripped)
        #expect(seen.transition?.age == 10_000_000)
        #expect(seen.transition?.by == nil)
        #expect(!LinkOrder.isOfFleet(seen.transition?.by))
        self.advance(30)
        #expect(try self.seen().state == .open(left: 0))
        let permit = try breaker.admit()
        seen = try self.seen()
        #expect(seen.state == .halfOpen)
        #expect(seen.transition?.kind == .probing)
        permit.fail()
        seen = try self.seen()
        #expect(seen.state == .open(left: 60_000_000))
        #expect(seen.transition?.kind == .reopened)
        #expect(seen.tripsInARow == 2)
        #expect(seen.recovery == 120_000_000)
        _ = try #require(try self.store.obey(.close, on: "a", ifEpoch: seen.epoch, by: LinkOrder.fleet, reason: nil))
        seen = try self.seen()
        #expect(seen.state == .closed)
        #expect(seen.transition?.kind == .closed)
        #expect(seen.transition?.by == "fleet")
        #expect(LinkOrder.isOfFleet(seen.transition?.by))
        #expect(seen.failures.isEmpty)
    }

    @Test func aHold() throws {
        _ = try self.fixture.breaker()
        try self.store.hold("a", .open, for: .seconds(60), by: "ann", reason: "deploy")
        self.advance(10)
        #expect(
            try self.seen().hold
                == .init(state: .open, age: 10_000_000, left: 50_000_000, by: "ann", reason: "deploy"))
        #expect(try self.seen().state == .closed)
        self.advance(50)
        #expect(try self.seen().hold == nil)
        try self.store.hold("a", .closed)
        #expect(try self.seen().hold == .init(state: .closed, age: 0))
    }

    @Test func ofTheHistoryOnlyWhatIsNewer() throws {
        for name in ["a", "b"] { _ = try self.fixture.breaker(name) }
        try self.store.hold("a", .open, by: "ann")
        try self.store.reset("b", by: "bob")
        let first = try self.store.linkedCircuits(matching: "*", eventsAfter: 0)
        #expect(first.circuits == (try self.store.linkedCircuits(matching: "*")))
        #expect(try self.store.history(limit: 1).map(\.id) == [first.newestEvent])
        let nothing = try self.store.linkedCircuits(matching: "*", eventsAfter: first.newestEvent)
        #expect(nothing.newestEvent == first.newestEvent)
        #expect(nothing.circuits.allSatisfy { $0.transition == nil })
        #expect(nothing.circuits.map { $0.commands.map(\.by) } == [["ann"], ["bob"]])
        #expect(nothing.circuits.map(\.hold) == first.circuits.map(\.hold))
        try self.store.reset("a", by: "eve")
        let second = try self.store.linkedCircuits(matching: "*", eventsAfter: first.newestEvent)
        #expect(second.circuits.map { $0.commands.map(\.by) } == [["ann", "eve"], ["bob"]])
        #expect(second.circuits.map(\.transition?.kind) == [.reset, nil])
        #expect(second.newestEvent == first.newestEvent + 1)
        // A number that this file has not reached is another file's.
        let other = try self.store.linkedCircuits(matching: "*", eventsAfter: .max)
        #expect(other.circuits == (try self.store.linkedCircuits(matching: "*")))
    }

    @Test func ofAnOutageTheTripHoweverOldAndTheTransitionOnlyIfItIsNew() throws {
        let breaker = try self.store.breaker(.init(name: "a", trip: .consecutiveFailures(1)))
        breaker.recordFailure()
        self.advance(60)
        try breaker.admit().fail()
        let first = try self.store.linkedCircuits(matching: "*", eventsAfter: 0)
        #expect(first.circuits.map(\.transition?.kind) == [.reopened])
        #expect(first.circuits.map(\.trip?.age) == [60_000_000])
        let nothing = try self.store.linkedCircuits(matching: "*", eventsAfter: first.newestEvent)
        #expect(nothing.circuits.map(\.transition) == [nil])
        #expect(nothing.circuits.map(\.trip) == first.circuits.map(\.trip))
    }

    /// The history is kept under the name; what befell another circuit of this name says nothing of this one.
    @Test func aCircuitThatWasForgottenBeganAgain() throws {
        _ = try self.fixture.breaker()
        try self.store.reset("a", by: "ann")
        _ = try self.store.forget([.named("a")], evenIfInUse: true)
        #expect(Foreign.value(self.store.path, "SELECT count(*) FROM command") == "0")
        _ = try self.store.breaker(Stores.config("a", maxFailures: 7))
        let seen = try self.seen()
        #expect(seen.transition == nil)
        #expect(seen.commands.isEmpty)
    }

    @Test func sharesAndRefusals() throws {
        let slow = SlowCallRule(longerThan: .seconds(1), share: 0.5, minimumCalls: 50, within: .seconds(20))
        let breaker = try self.store.breaker(
            .init(
                name: "a", trip: .failureRate(0.5, minimumCalls: 4, within: .seconds(10)), slow: slow,
                recovery: RecoveryRule(timeout: .seconds(30))))
        for _ in 0..<3 { breaker.recordSuccess() }
        for _ in 0..<2 { breaker.recordFailure() }
        var seen = try self.seen()
        #expect(seen.failureRate == .init(share: 0.5, minimumCalls: 4, window: 10_000_000))
        #expect(seen.slowRate == .init(share: 0.5, minimumCalls: 50, window: 20_000_000))
        #expect(seen.counting == nil)
        #expect(seen.failed?.bad == 2)
        #expect(seen.slow?.bad == 0)
        try self.expectSums(of: seen)
        for _ in 0..<3 { breaker.recordFailure() }
        for _ in 0..<7 { _ = try? breaker.admit() }
        self.fixture.core?.publishCounts(of: "a")
        seen = try self.seen()
        #expect(seen.state == .open(left: 30_000_000))
        #expect(seen.refusals == 7)
        #expect(try self.store.circuit(named: "a")?.refusals == 7)
        try self.expectSums(of: seen)
        // What boards have counted that are gone.
        Foreign.run(
            self.store.path,
            """
            INSERT INTO counters SELECT id, 5, 0, 0, 0, 0, 1000 FROM circuit;
            INSERT INTO counters SELECT id, 6, 0, 0, 0, 0, -7 FROM circuit
            """)
        #expect(try self.seen().refusals == 1_007)
        #expect(try self.store.circuit(named: "a")?.refusals == 1_007)
    }

    private func expectSums(of seen: LinkedCircuit) throws {
        let recent = try #require(try self.store.circuit(named: "a")?.recent)
        #expect(seen.failed == .init(calls: Int64(recent.calls), bad: Int64(recent.failed)))
        #expect(seen.slow == .init(calls: Int64(recent.slowCalls), bad: Int64(recent.slow)))
    }

    @Test func anObservingCircuit() throws {
        let breaker = try self.store.breaker(
            .init(name: "a", trip: .consecutiveFailures(1), mode: .observing))
        breaker.recordFailure()
        let seen = try self.seen()
        #expect(seen.isObserving)
        guard case .open = seen.state else {
            Issue.record("\(seen.state)")
            return
        }
        #expect(seen.failures.count == 1)
    }

    @Test func onlyThoseThatMatchInTheOrderOfTheirNumbers() throws {
        for name in ["b", "a", "ba", "ä"] { try self.fixture.breaker(name).recordFailure() }
        func names(_ pattern: String) throws -> [String] {
            try self.store.linkedCircuits(matching: pattern).map(\.name)
        }
        #expect(try names("*") == ["b", "a", "ba", "ä"])
        #expect(try names("b*") == ["b", "ba"])
        #expect(try names("[äa]") == ["a", "ä"])
        #expect(try names("nobody") == [])
        #expect(try self.store.linkedCircuits(matching: "*").allSatisfy { $0.failures.count == 1 })
        #expect(throws: BreakerStoreError.self) { try names(String(repeating: "*", count: 60_000)) }
        self.store.close()
        #expect(throws: BreakerStoreError.self) { try names("*") }
    }

    /// Somebody's login may be `fleet`: what that person says goes to the other hosts as everybody's word does.
    @Test(arguments: ["fleet", "fleet: ann"]) func aPersonIsNeverTakenForALink(who: String) throws {
        _ = try self.store.breaker(.init(name: "a"))
        try self.store.hold("a", .open, by: who, reason: "why")
        let seen = try self.seen()
        #expect(seen.commands.map(\.by) == ["'\(who)'"])
        #expect(seen.hold?.by == "'\(who)'")
        #expect(try self.store.history(of: "a", limit: 1).first?.by == "'\(who)'")
    }
}

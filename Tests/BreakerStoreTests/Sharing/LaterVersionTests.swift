import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What a program of a later version has written beside this one.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LaterVersionTests {
    /// A later minor version adds tables.
    private static let version = "PRAGMA user_version = 2002; CREATE TABLE IF NOT EXISTS later (x INTEGER) STRICT;"
    private static let later = "\(version) UPDATE circuit SET rule = 'share', rule_count = 20, rule_window = 5000000 "
    private static let foreign = "\(version) UPDATE circuit SET state = 'shadowing' "

    /// The rule is kept as it is, nothing is counted, and what is open or half-open goes its way.
    @Test(arguments: [1, 2])
    func unknownRuleLetsThroughUncounted(successesToClose: Int) async throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.path
        let probes = ProbeRule(successesToClose: successesToClose)
        let breaker = try fixture.breaker(trip: .failures(2, within: .seconds(60)), probes: probes)
        Foreign.run(path, Self.later, keepsLog: true)
        for _ in 0..<5 { await breaker.recordFailure(CallFailure()) }
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        #expect(breaker.failureCount == 0)
        #expect(breaker.isCallPermitted)
        #expect(breaker.config.trip.description.contains("share"))
        #expect(fixture.isHealthy)
        // Open: refused, until its time has come; then a probe decides.
        let now = try #require(fixture.core).clock.now.microseconds
        let open = "UPDATE circuit SET state = 'open', open_until = \(now + 30_000_000), epoch = epoch + 1"
        Foreign.run(path, open, keepsLog: true)
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        fixture.clock.advance(by: .seconds(30))
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        fixture.clock.advance(by: .seconds(600))
        for _ in 0..<successesToClose { try await breaker.run {} }
        #expect(breaker.state == .closed)
        #expect(Foreign.value(path, "SELECT rule || rule_count || rule_window FROM circuit") == "share205000000")
        // Until somebody registers another.
        let again = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
        for _ in 0..<3 { await again.recordFailure() }
        #expect(!again.isCallPermitted)
    }

    /// The same for a state; only an operator leads out of it.
    @Test func unknownStateLetsThroughUncounted() async throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.path
        let breaker = try fixture.breaker(trip: .failures(2, within: .seconds(60)))
        Foreign.run(path, Self.foreign, keepsLog: true)
        for _ in 0..<5 { await breaker.recordFailure(CallFailure()) }
        try await breaker.run {}
        #expect(breaker.isCallPermitted)
        #expect(fixture.isHealthy)
        #expect(Foreign.value(path, "SELECT state || (SELECT count(*) FROM failure) FROM circuit") == "shadowing0")
        _ = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
        #expect(Foreign.value(path, "SELECT state || rule_count FROM circuit") == "shadowing2")
        try await fixture.store.reset("a")
        for _ in 0..<2 { await breaker.recordFailure() }
        #expect(!breaker.isCallPermitted)
    }

    @Test func neitherHidesAnotherCircuit() async throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.path
        let breakers = try ["a", "b", "c"].map { try fixture.breaker($0) }
        Foreign.run(path, Self.later + "WHERE name = 'a'; " + Self.foreign + "WHERE name = 'b'", keepsLog: true)
        #expect(try await fixture.store.circuits().map(\.name) == ["a", "b", "c"])
        #expect(try await fixture.store.circuit(named: "a")?.config.trip.description.contains("share") == true)
        for breaker in breakers { for _ in 0..<3 { await breaker.recordFailure() } }
        #expect(breakers.map(\.isCallPermitted) == [true, true, false])
        #expect(fixture.isHealthy)
    }

    /// Kinds of events that this version does not know are handed over as they are, and ten thousand make nobody deaf.
    @Test func unknownKindsAreHandedOver() async throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.path
        let breaker = try fixture.breaker()
        let events = fixture.store.events()
        let sequence = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20001)"
        // Half of them can't be read at all.
        Foreign.run(
            path,
            """
            PRAGMA ignore_check_constraints = ON; PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, ') STRICT', ')') WHERE name = 'event';
            """, keepsLog: true)
        Foreign.run(
            path,
            """
            INSERT INTO event (circuit, kind, at) VALUES ('a', 'ofALaterVersion', 1);
            INSERT INTO event (circuit, kind, at) \(sequence) SELECT 'a', x'00', 1 FROM n;
            INSERT INTO event (circuit, kind, at) VALUES ('a', 'ofALaterVersion', 1);
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE name = 'event';
            """, keepsLog: true)
        var iterator = events.makeAsyncIterator()
        let first = await iterator.next()
        #expect(first?.kind == CircuitEvent.Kind(rawValue: "ofALaterVersion"))
        try await fixture.store.reset("a")
        var seen: [CircuitEvent.Kind] = []
        while seen.last != .reset, let next = await iterator.next() { seen.append(next.kind) }
        #expect(seen.last == .reset)
        #expect(seen.contains(CircuitEvent.Kind(rawValue: "ofALaterVersion")))
        #expect(try await fixture.store.history(limit: 2).map(\.kind.rawValue) == ["reset", "ofALaterVersion"])
        withExtendedLifetime(breaker) {}
    }
}

import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What a program of a later version has written beside this one.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LaterVersionTests {
    /// A later minor version adds tables.
    private static let version = "PRAGMA user_version = 3001; CREATE TABLE IF NOT EXISTS later (x INTEGER) STRICT;"
    private static let later = "\(version) UPDATE circuit SET rules = json_set(rules, '$.trip.rule', 'share') "
    private static let foreign = "\(version) UPDATE circuit SET state = 'shadowing' "

    /// The text is kept as it is, each worker guards by its own rules, and what is open or half-open goes its way.
    @Test(arguments: ["json_set(rules, '$.trip.rule', 'share')", "json_set(rules, '$.!limit', 7)"], [1, 2])
    func unknownRulesStay(change: String, successesToClose: Int) async throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.path
        let probes = ProbeRule(successesToClose: successesToClose)
        let breaker = try fixture.breaker(trip: .failures(2, within: .seconds(60)), probes: probes)
        Foreign.run(path, "\(Self.version) UPDATE circuit SET rules = \(change)", keepsLog: true)
        let stored = Foreign.value(path, "SELECT rules FROM circuit")
        await #expect(throws: CallFailure.self) { try await breaker.run { throw CallFailure() } }
        #expect(breaker.failureCount == 1)
        #expect(breaker.isCallPermitted)
        await breaker.recordFailure(CallFailure())
        #expect(!breaker.isCallPermitted)
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
        // Who registers the circuit again guards by the new rules; the history says so once, and the text stays.
        for _ in 0..<2 { _ = try fixture.breaker(trip: .failures(3, within: .seconds(60))) }
        let reasons = try await fixture.store.history(of: "a").filter { $0.kind == .configured }.compactMap(\.reason)
        #expect(
            reasons.count == 1 && reasons[0].contains("use their own rules: a later release has registered "),
            "\(reasons)")
        let again = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
        for _ in 0..<2 { await again.recordFailure() }
        #expect(again.isCallPermitted)
        await again.recordFailure()
        #expect(!again.isCallPermitted)
        #expect(Foreign.value(path, "SELECT rules FROM circuit") == stored)
    }

    /// State and hold survive a text that no release can have written; the next registration replaces it.
    @Test(arguments: ["'{'", "json_set(rules, '$.trip.count', 0)", "CAST(x'7bff7d' AS TEXT)"])
    func unreadableRulesAreReplaced(text: String) async throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.path
        let breaker = try fixture.breaker(trip: .failures(2, within: .seconds(60)))
        for _ in 0..<2 { await breaker.recordFailure() }
        try await fixture.store.hold("a", .closed, by: "Ann")
        Foreign.run(path, "UPDATE circuit SET rules = \(text)", keepsLog: true)
        try await breaker.run {}
        let seen = try #require(try await fixture.store.circuit(named: "a"))
        #expect(seen.hold?.by == "Ann" && seen.beneath?.isOpen == true)
        #expect(seen.config.trip.description == "rules that can't be read")
        try await fixture.store.release("a")
        #expect(!breaker.isCallPermitted)
        #expect(fixture.isHealthy)
        _ = try fixture.breaker(trip: .failures(4, within: .seconds(60)))
        #expect(try await fixture.store.circuit(named: "a")?.config.trip.count == 4)
        #expect(!breaker.isCallPermitted)
        let reason = try await fixture.store.history(of: "a", limit: 1).first?.reason
        #expect(reason?.hasPrefix("the stored rules could not be read (") == true, "\(reason ?? "")")
    }

    /// Members that this release does not know stay where they are, also when it registers other rules.
    @Test func unknownMembersStay() async throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.path
        _ = try fixture.breaker(trip: .failures(2, within: .seconds(60)))
        Foreign.run(
            path, "UPDATE circuit SET rules = json_set(rules, '$.limit', 7, '$.recovery.growth', 2)", keepsLog: true)
        let again = try fixture.breaker(trip: .failures(3, within: .seconds(60)))
        for _ in 0..<2 { await again.recordFailure() }
        #expect(again.isCallPermitted)
        let found = Foreign.value(
            path,
            "SELECT (rules ->> '$.limit') || (rules ->> '$.recovery.growth') || (rules ->> '$.trip.count') FROM circuit"
        )
        #expect(found == "723")
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
        #expect(Foreign.value(path, "SELECT state || (rules ->> '$.trip.count') FROM circuit") == "shadowing2")
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
        #expect(breakers.map(\.isCallPermitted) == [false, true, false])
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

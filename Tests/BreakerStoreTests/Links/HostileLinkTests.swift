import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Whatever somebody has written into the file: a link sees the other circuits, within bounds.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct HostileLinkTests {
    private static let long = "replace(hex(zeroblob(1500000)), '0', 'x')"

    /// What a link sees of a store with the circuits a, b and c, after `sql`.
    private func seen(after sql: String, access: Access = .existing) throws -> [LinkedCircuit] {
        let path = try Workplace.here.store
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        for name in ["a", "b", "c"] {
            try store.breaker(Stores.config(name)).recordFailure()
            try store.reset(name, by: "ann")
            try store.breaker(Stores.config(name)).recordFailure()
        }
        store.close()
        Foreign.run(path, "PRAGMA ignore_check_constraints = ON; \(sql.replacing("LONG", with: Self.long))")
        let other = try CircuitStore(path: path, configuration: Stores.configuration(access))
        defer { other.close() }
        return try other.linkedCircuits(matching: "*")
    }

    @Test(arguments: [
        "name = CAST(x'ff61fe' AS TEXT)",
        "name = replace(hex(zeroblob(150)), '0', 'x')", "name = ''", "state = 'closed', open_until = 5", "trips = -5",
        "epoch = 9223372036854775807", "hold = 'sideways', hold_since = 1",
    ])
    func aRowThatCannotBeReadIsLeftOut(change: String) throws {
        for access in [Access.readOnly, .existing] {
            let seen = try self.seen(after: "UPDATE circuit SET \(change) WHERE name = 'b'", access: access)
            #expect(seen.map(\.name) == ["a", "c"])
            #expect(seen.allSatisfy { $0.failures.count == 1 && $0.commands.count == 1 && $0.transition != nil })
            Foreign.run(try Workplace.here.store, "DELETE FROM circuit; DELETE FROM failure; DELETE FROM event")
        }
    }

    /// One that only reads the file says so; one that may write deletes the row, and the next look is whole.
    @Test(arguments: [
        "UPDATE circuit SET name = LONG WHERE name = 'b'", "UPDATE circuit SET last_error = LONG WHERE name = 'b'",
        "UPDATE event SET operator = LONG WHERE circuit = 'b'", "UPDATE event SET kind = LONG WHERE circuit = 'b'",
    ])
    func aTextThatIsTooLongIsAnError(sql: String) async throws {
        LongTextTests.requireClearError { _ = try self.seen(after: sql, access: .readOnly) }
        let store = try CircuitStore(path: try Workplace.here.store, configuration: Stores.configuration(.existing))
        defer { store.close() }
        #expect(await eventually { (try? store.linkedCircuits(matching: "*")) != nil })
        let seen = try store.linkedCircuits(matching: "*")
        #expect(seen.map(\.name) == (sql.contains("UPDATE event") ? ["a", "b", "c"] : ["a", "c"]))
    }

    @Test func textsAreCut() throws {
        let text = "replace(hex(zeroblob(20000)), '00', 'ä')"
        let seen = try self.seen(
            after: """
                UPDATE event SET reason = \(text), operator = \(text);
                UPDATE command SET reason = \(text), operator = \(text);
                UPDATE circuit SET last_error = \(text), hold = 'open', hold_since = 1, hold_by = \(text),
                hold_reason = \(text)
                """)
        #expect(seen.count == 3)
        let cut = String(repeating: "ä", count: 1_000)
        for circuit in seen {
            #expect(circuit.lastError == cut)
            #expect(circuit.hold?.by == cut)
            #expect(circuit.hold?.reason == cut)
            #expect(circuit.transition?.by == cut)
            #expect(circuit.commands.map(\.by) == [cut] && circuit.commands.map(\.reason) == [cut])
        }
    }

    @Test func numbersAreBounded() throws {
        let seen = try self.seen(
            after: """
                DELETE FROM failure;
                WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 130000)
                INSERT INTO failure SELECT circuit.id, 9223372036854775807 - n, -n, n FROM numbers, circuit
                WHERE name <> 'c';
                INSERT INTO failure SELECT id, -9223372036854775808, 1, 1 FROM circuit;
                INSERT INTO failure SELECT circuit.id, reserved, 1, 1 FROM circuit, clock;
                WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
                INSERT INTO failure SELECT 4000 + n, 5, 5, 5 FROM numbers;
                UPDATE circuit SET rules = json_set(rules, '$.trip.count', 500000) WHERE name = 'a';
                UPDATE event SET at = 9223372036854775807 WHERE id % 2;
                UPDATE command SET at = 9223372036854775807, hold_for = -9223372036854775808;
                UPDATE circuit SET hold = 'open', hold_since = 9223372036854775807, hold_until = 9223372036854775807;
                UPDATE circuit SET state = 'open', open_until = 9223372036854775807;
                INSERT INTO counters SELECT id, 0, 0, 0, 0, 0, 9223372036854775807 FROM circuit;
                INSERT INTO counters SELECT id, 5, 1, 1, 1, 1, 9223372036854775807 FROM circuit;
                INSERT INTO counters SELECT id, 6, 1, 1, 1, 1, 9223372036854775807 FROM circuit
                """)
        #expect(seen.map(\.name) == ["a", "b", "c"])
        // Of b the rule keeps two, and some more for the reporters.
        #expect(seen.map(\.failures.count) == [100_000, 2_003, 1])
        for circuit in seen {
            #expect(circuit.failures.allSatisfy { $0.age >= 0 })
            #expect(circuit.commands.allSatisfy { $0.age >= 0 })
            #expect(circuit.transition.map { $0.age >= 0 } == true)
            #expect(circuit.hold?.age == 0)
            #expect(circuit.state == .open(left: circuit.longestRecovery))
            #expect(circuit.refusals == .max)
        }
    }

    /// Who has the file can write such rows: they say nothing, and the others go on.
    @Test(arguments: [
        "kind = 'shout'", "lamport_time = -1", "lamport_time = 9007199254740993", "floor = -1",
        "floor = 9007199254740993",
        "hold = 'loosely'",
    ])
    func aWordThatMakesNoSenseIsNone(change: String) throws {
        let seen = try self.seen(
            after: """
                UPDATE command SET \(change) WHERE circuit = (SELECT id FROM circuit WHERE name = 'b');
                WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
                INSERT INTO command SELECT id, 'x' || n, n, 1, 1, 1, NULL, NULL, NULL, NULL FROM numbers, circuit
                WHERE name = 'c'
                """)
        #expect(seen.map(\.commands.count) == [1, 0, 1])
    }
}

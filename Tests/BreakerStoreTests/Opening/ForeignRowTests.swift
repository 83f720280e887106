import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Rows that no version of this library has written: calls run all the same, and nothing crashes.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ForeignRowTests {
    static let changes = [
        "UPDATE circuit SET state = 'ajar'", "UPDATE circuit SET state = ''", "UPDATE circuit SET state = 'open'",
        "UPDATE circuit SET state = 'open' || char(0) || 'x', open_until = 1",
        "UPDATE circuit SET open_until = 9223372036854775807", "UPDATE circuit SET rules = ''",
        "UPDATE circuit SET rules = 'null'", "UPDATE circuit SET rules = json_set(rules, '$.trip.rule', 'never')",
        "UPDATE circuit SET rules = json_set(rules, '$.trip.count', -1)",
        "UPDATE circuit SET rules = json_set(rules, '$.trip.count', 9223372036854775807)",
        "UPDATE circuit SET rules = json_set(rules, '$.trip.windowMicroseconds', -9223372036854775808)",
        "UPDATE circuit SET rules = json_set(rules, '$.recovery.multiplier', -1e308)",
        "UPDATE circuit SET rules = json_set(rules, '$.!new', 1)",
        "UPDATE circuit SET rules = rules || '}'", "UPDATE circuit SET rules = CAST(x'7bff7d' AS TEXT)",
        "UPDATE circuit SET rules = substr(rules, 1, 40)", "UPDATE circuit SET mode = 'sleeping'",
        "UPDATE circuit SET successes = -9, state = 'half-open'",
        "UPDATE circuit SET trips = 9223372036854775807", "UPDATE circuit SET trips = -9223372036854775808",
        "UPDATE circuit SET epoch = 9223372036854775807", "UPDATE circuit SET epoch = -9223372036854775808",
        "UPDATE circuit SET since = 9223372036854775807", "UPDATE circuit SET since = -9223372036854775808",
        "UPDATE circuit SET forgotten_until = 9223372036854775807", "UPDATE circuit SET hold = 'sideways'",
        "UPDATE circuit SET hold = 'open', hold_since = 9223372036854775807, hold_until = -9223372036854775808",
        "UPDATE circuit SET hold = 'closed', hold_since = 1, hold_until = 9223372036854775807",
        "UPDATE circuit SET name = 'a' || char(0) || 'b'", "UPDATE circuit SET name = ''",
        "UPDATE circuit SET name = CAST(x'ff61fe' AS TEXT)", "UPDATE circuit SET group_name = CAST(x'00ff' AS TEXT)",
        "UPDATE circuit SET last_error = 'x' || char(0) || 'y'", "UPDATE circuit SET last_error = zeroblob(9) || 'y'",
        "INSERT INTO failure VALUES (1, 9223372036854775807, -1, -1), (1, -9223372036854775808, 0, 0)",
        "INSERT INTO probe VALUES (1, -5, -7, NULL, NULL, 9223372036854775807, -9223372036854775808)",
        "INSERT INTO probe VALUES (1, 0, 0, NULL, NULL, -9223372036854775808, 9223372036854775807);"
            + "UPDATE circuit SET state = 'half-open'",
        "INSERT INTO worker VALUES (-5, '', -1, NULL, 9223372036854775807), (0, 'x', 0, NULL, 0), (5, 'x', 0, NULL, 0)",
        "INSERT INTO worker VALUES (9223372036854775807, 'a' || char(0), 9223372036854775807, NULL, 0)",
        "INSERT INTO registration VALUES (-5, 1), (5, 99)", "DELETE FROM clock",
        "UPDATE clock SET offset = 9223372036854775807", "UPDATE clock SET offset = -9223372036854775808",
        "UPDATE clock SET boot = 'other', offset = 9223372036854775807", "UPDATE clock SET boot = ''",
        "UPDATE clock SET epoch_floor = 9223372036854775807", "UPDATE clock SET boot = 'x' || char(0)",
        "INSERT INTO event (circuit, kind, at) VALUES ('a', 'celebrated', 9223372036854775807)",
        "INSERT INTO event (circuit, kind, at, pid, worker) VALUES (NULL, '', -9223372036854775808, 1 << 62, -1)",
        "UPDATE sqlite_sequence SET seq = 9223372036854775807",
    ]

    @Test(arguments: Self.changes)
    func callsRun(change: String) throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            try Stores.make(path)
            Foreign.run(path, "PRAGMA ignore_check_constraints = ON; \(change)")
            for _ in 0..<2 {
                let store = try CircuitStore(path: path, configuration: Stores.configuration())
                defer { store.close() }
                let breaker = try store.breaker(Stores.config())
                var ran = 0
                for _ in 0..<3 {
                    do {
                        _ = try { try breaker.run { ran += 1 } }()
                    } catch is CircuitOpenError {
                        ran += 1
                    }
                    breaker.recordFailure()
                    _ = (breaker.state, breaker.failureCount, breaker.isCallPermitted, breaker.config)
                }
                #expect(ran == 3)
                self.readEverything(store)
            }
        }
    }

    /// Lists and links leave such a circuit out, and the facts name it.
    @Test(arguments: ["state = 'ajar'", "name = CAST(x'ff61fe' AS TEXT)"])
    func allReadersPassOverTheSameRows(change: String) throws {
        let path = try Workplace.here.store
        let writer = try CircuitStore(path: path, configuration: Stores.configuration())
        for name in ["a", "b", "c"] { _ = try writer.breaker(Stores.config(name)) }
        writer.close()
        Foreign.run(path, "PRAGMA ignore_check_constraints = ON; UPDATE circuit SET \(change) WHERE name = 'b'")
        let store = try CircuitStore(path: path, configuration: Stores.configuration(.readOnly))
        let facts = try synchronously { try store.facts() }
        #expect(facts.circuitCount == 3 && facts.unreadable.count == 1)
        #expect(try synchronously { try store.circuits().map(\.name) } == ["a", "c"])
        #expect(try synchronously { try store.circuits(matching: "*", limit: 2).map(\.name) } == ["a", "c"])
        #expect(try store.linkedCircuits(matching: "*").map(\.name) == ["a", "c"])
    }

    /// Whoever adds to such a number would be refused by the table each time, also the process that opens the file.
    @Test(arguments: [
        ("transition", "INSERT INTO transition SELECT id, 'tripped', 0.5 FROM circuit"),
        ("counters", "INSERT INTO counters SELECT id, 5000000000, 'x', 0, 0, 0, 0.5 FROM circuit"),
        ("duration", "INSERT INTO duration SELECT id, 5000000000, 0, 0.5 FROM circuit"),
        ("command", "INSERT INTO command SELECT id, 'hold', 1, 'x', 0, 0.5, NULL, NULL, NULL, NULL FROM circuit"),
    ])
    func aCountOfAnotherTypeIsRemoved(table: String, row: String) throws {
        let path = try Workplace.here.directory + "/a.db"
        try Stores.make(path)
        let texts = "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
        Foreign.run(path, "\(texts) replace(sql, ') STRICT,', ')') WHERE name = '\(table)'")
        Foreign.run(
            path,
            """
            INSERT INTO worker VALUES (5000000000, 'dead', 1, NULL, 1); \(row);
            INSERT INTO registration SELECT 5000000000, id FROM circuit;
            \(texts) replace(sql, ') WITHOUT', ') STRICT, WITHOUT') WHERE name = '\(table)'
            """)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config())
        for _ in 0..<2 { breaker.recordFailure() }
        #expect(!breaker.isCallPermitted)
        #expect(store.isHealthy)
        #expect(Foreign.value(path, "SELECT state FROM circuit WHERE name = 'a'") == "open")
    }

    /// After a reboot a living worker of another boot would mean another kernel.
    @Test(arguments: [Int64.min, -5, 0, 5, (1 << 32) - 1, 1 << 62, .max])
    func aWorkerThatCanNotBeIsDead(id: Int64) throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            try Stores.make(path)
            Foreign.run(path, "INSERT INTO worker VALUES (\(id), 'x', 1, NULL, 1); UPDATE clock SET boot = 'other'")
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            #expect(try store.workers().count == 1)
            store.close()
            #expect(Foreign.value(path, "SELECT count(*) FROM worker") == "0")
        }
    }

    private func readEverything(_ store: CircuitStore) {
        do throws(BreakerStoreError) {
            _ = try store.circuits()
            _ = try store.circuit(named: "a")
        } catch {
            #expect(error.code == .corrupt && error.message.contains("circuit '"), "\(error)")
        }
        #expect(throws: Never.self) { try store.history() }
        #expect(throws: Never.self) { try store.workers() }
    }
}

import BreakerTestSupport
import Testing

@testable import BreakerStore
@testable import BreakerStoreMigrations

/// Killed before every step of creation or migration: the next opening succeeds.
@Suite(.timeLimit(.minutes(10))) struct KilledCreationTests {
    @Test func creation() async {
        await #expect(processExitsWith: .success) { KilledOpening.checkEveryStep { _ in } }
    }

    /// A store of schema 2.0 with a circuit: all that it holds is kept.
    @Test func migrationOfAStore() async {
        await #expect(processExitsWith: .success) {
            let kept = """
                SELECT name || (rules ->> '$.trip.count') || state || hold || hold_by || (SELECT count(*) FROM failure) ||
                (SELECT group_concat(kind) FROM event WHERE circuit = 'old') FROM circuit WHERE name = 'old'
                """
            KilledOpening.checkEveryStep(
                from: { path in
                    let steps = Array(Migration.all.prefix(1))
                    guard let file = try? StoreFile(resolving: path) else { return }
                    Files.write([], to: path)
                    let connection = try? Connection(path: path, access: .readWrite)
                    if let connection { _ = try? Schema.migrate(connection, file, steps: steps) }
                    Foreign.run(
                        path,
                        """
                        PRAGMA journal_mode = WAL;
                        INSERT INTO clock VALUES (1, 'manual-boot-0', 5, 9, 3, 77, 9, 9);
                        INSERT INTO circuit (id, name, birth, registered, mode, rule, rule_count, rule_window, recovery,
                        recovery_multiplier, recovery_cap, recovery_jitter, outage_cap, probe_limit, probe_successes,
                        probe_lease, minimum_reporters, state, since, epoch, stretch, successes, trips, last_error, hold,
                        hold_since, hold_by, hold_reason) VALUES (7, 'old', 5, 3, 'enforcing', 'failures', 4, 60000000,
                        30000000, 1, 600000000, 0, 3600000000, 1, 1, 30000000, 1, 'closed', 3, 3, 1, 0, 0, 'E', 'open',
                        5, 'Ann', 'storm');
                        INSERT INTO failure VALUES (7, 4, 1, 1), (7, 5, 1, 2);
                        INSERT INTO event (circuit, kind, at) VALUES ('old', 'held', 5);
                        """
                    )
                },
                keeping: {
                    let found = Foreign.value($0, kept)
                    if found != "old4closedopenAnn4held" { Forked.say("\(found ?? "nothing")") }
                    return found == "old4closedopenAnn4held"
                }
            )
        }
    }

    /// An empty file that somebody made beforehand.
    @Test func creationInAnEmptyFile() async {
        await #expect(processExitsWith: .success) {
            KilledOpening.checkEveryStep(atMost: 20) { Files.write([], to: $0) }
        }
    }
}

enum KilledOpening {
    /// Opens in one child after the other, each killed one step later than the one before, until one survives.
    ///
    /// - Parameters:
    ///   - most: where the rest is the same as elsewhere, the last step that matters.
    ///   - isKept: whether all is there that was there before.
    static func checkEveryStep(
        atMost most: Int = 5_000,
        from prepare: @escaping (String) -> Void,
        keeping isKept: @escaping (String) -> Bool = { _ in true }
    ) {
        guard let template = try? Files.makeDirectory() else { return fail("no directory") }
        defer { Files.remove(template) }
        let prepared = Forked.run {
            prepare("\(template)/a.db")
            return 0
        }
        if prepared != .exited(0) { return fail("nothing could be prepared: \(prepared)") }
        for step in 1...most {
            guard let directory = try? Files.makeDirectory() else { return fail("no directory") }
            defer { Files.remove(directory) }
            let names = Directory.names(in: template)
            for name in names { Files.copy("\(template)/\(name)", to: "\(directory)/\(name)") }
            if Directory.names(in: directory) != names { return fail("step \(step): \(names) could not be copied") }
            let path = "\(directory)/a.db"
            let end = Forked.run {
                DeathAtStep.install(step)
                return (try? CircuitStore(path: path)) == nil ? 1 : 0
            }
            let left = Directory.names(in: directory).map { "\($0): \(StoreFile.size("\(directory)/\($0)") ?? -1)" }
            let after = Forked.run { Self.works(path) && isKept(path) ? 0 : 1 }
            if after != .exited(0) { return fail("step \(step) (\(end)): \(after); it had left\(left)") }
            if end == .exited(0) {
                if step < 50 { Issue.record("only \(step) steps were seen") }
                return
            }
            if end != .killed(9) { return fail("step \(step): \(end)") }
        }
        if most == 5_000 { Issue.record("there is no end to it") }
    }

    /// Opens the store, trips a circuit and looks at the file.
    private static func works(_ path: String) -> Bool {
        do {
            let store = try CircuitStore(path: path)
            let breaker = try store.breaker(
                .init(name: "a", recoveryTimeout: .seconds(30), maxFailures: 2, rollingWindow: .seconds(60)))
            breaker.recordFailure()
            breaker.recordFailure()
            guard case .healthy = store.health, case .open = breaker.state else { return false }
            store.close()
            // A board comes with the first call that is counted.
            let names = Set(Directory.names(in: String(path.dropLast("/a.db".count)))).subtracting(["a.db-board"])
            let known: Set = ["a.db", "a.db-wal", "a.db-shm", "a.db-lock"]
            let check = Foreign.value(path, "PRAGMA quick_check") ?? "nothing"
            if check != "ok" || names != known { Forked.say("\(check) \(names)") }
            return check == "ok" && names == known
        } catch {
            Forked.say("\(error)")
            return false
        }
    }
}

private func fail(_ message: String) { Issue.record("\(message)") }

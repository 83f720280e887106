import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Killed before every step of creation or migration: the next opening succeeds.
@Suite(.timeLimit(.minutes(1))) struct KilledCreationTests {
    @Test func creation() async {
        await #expect(processExitsWith: .success) { KilledOpening.checkEveryStep { _ in } }
    }

    /// The tables come with the step from a version that never was.
    @Test func migration() async {
        await #expect(processExitsWith: .success) {
            KilledOpening.checkEveryStep(atMost: 60) { path in
                Foreign.run(
                    path,
                    """
                    PRAGMA application_id = \(Schema.applicationID);
                    PRAGMA user_version = 1;
                    CREATE TABLE older (x INTEGER NOT NULL) STRICT;
                    INSERT INTO older VALUES (42);
                    PRAGMA journal_mode = WAL;
                    """
                )
            }
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
    /// - Parameter most: where the rest is the same as elsewhere, the last step that matters.
    static func checkEveryStep(atMost most: Int = 5_000, from prepare: @escaping (String) -> Void) {
        for step in 1...most {
            guard let directory = try? Files.makeDirectory() else { return fail("no directory") }
            defer { Files.remove(directory) }
            let path = "\(directory)/a.db"
            _ = Forked.run {
                prepare(path)
                return 0
            }
            let end = Forked.run {
                DeathAtStep.install(step)
                return (try? CircuitStore(path: path)) == nil ? 1 : 0
            }
            let left = Directory.names(in: directory).map { "\($0): \(StoreFile.size("\(directory)/\($0)") ?? -1)" }
            let after = Forked.run { Self.works(path) ? 0 : 1 }
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
            let names = Set(Directory.names(in: String(path.dropLast("/a.db".count))))
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

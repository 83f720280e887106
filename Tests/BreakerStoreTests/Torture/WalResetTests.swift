import BreakerTestSupport
import CFaults
import CSQLite
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The "WAL-reset bug" (https://sqlite.org/wal.html#walresetbug): before SQLite 3.51.3 a checkpoint takes the frames of
/// a log that began anew inside it for the old ones, if somebody else had copied all of these before.
///
/// Each in a process of its own, where every checkpoint is watched.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct WalResetTests {
    /// What another program does, which checkpoints by itself after each commit.
    enum Other {
        static let create: StaticString = """
            CREATE TABLE other(id INTEGER PRIMARY KEY, content BLOB);
            CREATE TABLE counter(value);
            INSERT INTO counter VALUES (0);
            WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 40)
            INSERT INTO other SELECT i, randomblob(3000) FROM s;
            CREATE INDEX other_content ON other(content);
            """
        /// Many frames, and the checkpoint that copies all of them.
        static let fill: StaticString = "UPDATE other SET content = randomblob(3000)"
        /// A few frames at the beginning of the log.
        static let restart: StaticString =
            "BEGIN IMMEDIATE; UPDATE other SET content = randomblob(3000) WHERE id < 5; UPDATE counter SET value = 1; COMMIT"
    }

    private static func run(_ sql: StaticString) -> Int32 { unsafe resets_run(sql.text) }

    private static func arm() { unsafe resets_arm(Other.fill.text, Other.restart.text) }

    /// What is wrong with the file, its indexes included; and whether the last commit is in it.
    private static func damage(of path: String) -> [String] {
        let foreign = Foreign(path)
        var damage: [String] = []
        if foreign.value("SELECT value FROM counter") != "1" { damage.append("an acknowledged commit is lost") }
        let integrity = foreign.value("PRAGMA integrity_check") ?? "nothing can be read"
        if integrity != "ok" { damage.append(integrity) }
        return damage
    }

    /// The version of SQLite as a number, and the first one without the bug.
    private static let (version, fixed): (Int32, Int32) = (sqlite3_libversion_number(), 3_051_003)

    @Test func checkpointsOfStockConnectionsCorruptAFile() async throws {
        let path = try Workplace.here.store
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(resets_install() == SQLITE_OK)
            #expect(unsafe resets_open(path) == SQLITE_OK)
            #expect(unsafe resets_run("PRAGMA journal_mode = WAL") == SQLITE_OK)
            #expect(Self.run(Other.create) == SQLITE_OK)
            let stock = Foreign(path)
            stock.run("PRAGMA wal_autocheckpoint = 1")
            #expect(stock.value("SELECT count(*) FROM other") == "40")
            Self.arm()
            // Its commit begins a checkpoint by itself.
            stock.run("UPDATE counter SET value = 2")
            let codes = resets_codes()
            #expect(codes.before == SQLITE_OK)
            #expect(codes.inside == SQLITE_OK)
            _ = Self.run(Other.fill)
            let damage = Self.damage(of: path)
            if damage.isEmpty {
                print("SQLite \(Versions.sqlite) does not have the WAL-reset bug: nothing is reproduced")
                // Older branches have had the mend, too: not the ones before them.
                #expect(Self.version >= 3_044_006, "the bug was to be reproduced")
            } else {
                #expect(Self.version < Self.fixed, "\(damage)")
            }
            resets_close()
        }
    }

    @Test func theGuardedCheckpointSurvivesTheSameSchedule() async throws {
        let path = try Workplace.here.store
        await #expect(processExitsWith: .success) { [path = path as String] in
            #expect(resets_install() == SQLITE_OK)
            var configuration = CircuitStore.Configuration()
            configuration.busyTimeout = .hangLimit
            let store = try CircuitStore(path: path, configuration: configuration)
            let breaker = try store.breaker(.init(name: "a", trip: .failures(1_000, within: .seconds(3_600))))
            #expect(unsafe resets_open(path) == SQLITE_OK)
            #expect(Self.run(Other.create) == SQLITE_OK)
            Self.arm()
            // The store's own commits, until it checkpoints.
            var failures = 0
            while failures < 900, resets_codes().inside < 0 {
                synchronously { breaker.recordFailure() }
                failures += 1
            }
            #expect(await eventually { resets_codes().inside >= 0 })
            let codes = resets_codes()
            #expect(codes.before == SQLITE_BUSY, "nobody commits once a checkpoint has begun")
            #expect(codes.inside == SQLITE_BUSY)
            // What could not be done then can be done now.
            for sql in [Other.fill, Other.restart, Other.fill] {
                while Self.run(sql) & 0xff == SQLITE_BUSY { usleep(1_000) }
            }
            synchronously { breaker.recordFailure() }
            #expect(breaker.failureCount == failures + 1)
            #expect(store.isHealthy)
            store.close()
            resets_close()
            #expect(Self.damage(of: path) == [])
        }
    }
}

extension StaticString {
    /// For C that keeps it: it is never freed.
    fileprivate var text: UnsafePointer<CChar> {
        unsafe UnsafeRawPointer(self.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

import BreakerTestSupport
import Testing

@testable import BreakerStore

/// A log that has grown, because it could not be copied or not begin anew, is cut once it can.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LongLogTests {
    /// What keeps the log from being copied, held by another process.
    enum Hindrance: String, CaseIterable {
        case reader, guarded
    }

    private static func logSize(_ place: Workplace) -> Int64 { StoreFile.size(place.store + "-wal") ?? 0 }

    @Test(arguments: Hindrance.allCases, [1, 2])
    func isCutToItsReserve(hindrance: Hindrance, count: Int) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(count)
        try await workers.ask("breaker shop failures=1000000")
        let other = try place.start("/usr/bin/env", ["python3", "-u", "-c", Self.program, place.store])
        _ = try await other.ask(hindrance.rawValue)
        var failures = 0
        while Self.logSize(place) <= 9 << 20 {
            _ = try await workers.ask("fail shop 200")
            failures += 200 * count
        }
        _ = try await other.ask("let-go")
        // As long as so much of the log is not copied, each commit wakes the thread that copies.
        for _ in 0..<3 {
            _ = try await workers.ask("fail shop 200")
            failures += 200 * count
        }
        let reserve = LogFile.bytes(ofFrames: Reserve.pages, pageSize: 4_096)
        // Each failure is two pages, and all workers go on while one of them waits for its turn to copy.
        let most = 4 * reserve
        let isCut = await eventually { Self.logSize(place) <= most }
        #expect(isCut, "\(Self.logSize(place)) bytes")
        #expect(Self.logSize(place) >= reserve)
        // It is as long as it was, from then on.
        _ = try await workers.ask("fail shop 200")
        failures += 200 * count
        #expect((reserve...most).contains(Self.logSize(place)))
        #expect(try await workers[0].ask("look shop").number("counted") == failures)
        for worker in workers { #expect(await worker.quit() == 0) }
        #expect(Foreign.value(place.store, "SELECT count(*) FROM failure") == "\(failures)")
        #expect(Foreign.value(place.store, "PRAGMA integrity_check") == "ok")
    }

    /// A backup that reads for long, or a service that opens the store for long.
    private static let program = """
        import fcntl, sqlite3, sys
        for line in sys.stdin:
            if line == "reader\\n":
                reader = sqlite3.connect(sys.argv[1], isolation_level=None)
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM failure").fetchone()
                held = reader
            elif line == "guarded\\n":
                held = open(sys.argv[1] + "-lock", "r+b")
                fcntl.lockf(held, fcntl.LOCK_EX, 1, 0)
            else:
                held.close()
            print("ok")
        """
}

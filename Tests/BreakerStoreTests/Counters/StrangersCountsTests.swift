import BreakerTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that stood still while files or circuits were changed adds to no circuit that is a stranger to it.
///
/// Real time: each worker looks around once a second.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct StrangersCountsTests {
    /// Rules of which each counts in another way.
    private static let rules = ["rate=1 minimum=100000 slow=60000", "failures=100000"]

    /// A worker that stands still with counts that it has not published, and with a call in flight.
    private static func stopped(_ place: Workplace, _ rules: String) async throws -> WorkerProcess {
        let worker = try await place.openWorker()
        try await worker.ask("breaker users \(rules)")
        try await worker.ask("fail users 3")
        try await worker.ask("admit users")
        try await worker.ask("call users 50")
        worker.stop()
        return worker
    }

    /// Goes on, ends its call, makes others, and leaves: what it has counted is out then.
    private static func goOn(_ worker: WorkerProcess) async throws {
        worker.goOn()
        try await worker.ask("failed")
        // It has looked around meanwhile, and has published what it had.
        try await Task.sleep(for: .milliseconds(1_500))
        try await worker.ask("fail users 2")
        try await worker.ask("call users 7")
        #expect(await worker.quit() == 0)
    }

    @Test(arguments: Self.rules, [true, false])
    func whoseLockAndBoardWereTakenAway(rules: String, isReplaced: Bool) async throws {
        let place = try Workplace.here
        let worker = try await Self.stopped(place, rules)
        unsafe unlink(place.store + "-lock")
        unsafe unlink(place.store + "-board")
        if isReplaced {
            // The board of another store, on which strangers count.
            let other = place.directory + "/other.db"
            let stranger = try place.worker()
            try await stranger.ask("open \(other)")
            try await stranger.ask("breaker mail \(rules)")
            try await stranger.ask("fail mail")
            #expect(await stranger.quit() == 0)
            try #require(unsafe rename(other + "-board", place.store + "-board") == 0)
        }
        let newcomer = try await place.openWorker()
        for name in ["mail", "users"] { try await newcomer.ask("breaker \(name) \(rules)") }
        try await newcomer.ask("fail mail 10")
        try await newcomer.ask("call mail 20")
        try await Self.goOn(worker)
        let mail = try await newcomer.ask("totals mail")
        #expect(mail.number("failed") == 10 && mail.number("succeeded") == 20, "\(mail)")
        let users = try await newcomer.ask("totals users")
        #expect((2...6).contains(try #require(users.number("failed"))), "\(users)")
        #expect((7...57).contains(try #require(users.number("succeeded"))), "\(users)")
        #expect(try await newcomer.ask("look mail")["state"] == "closed")
    }

    /// The circuit was forgotten, and another one of its name was registered.
    @Test(arguments: Self.rules, [true, false])
    func whoseCircuitWasForgotten(rules: String, isClosed: Bool) async throws {
        let place = try Workplace.here
        let worker = try await Self.stopped(place, rules)
        let other = try await place.openWorker()
        try await other.ask("forget users")
        try await other.ask("breaker users \(rules)")
        try await other.ask("fail users")
        worker.goOn()
        if isClosed {
            try await worker.ask("close")
            try await worker.ask("failed")
            #expect(await worker.quit() == 0)
        } else {
            // Calls through the new circuit are no stranger's.
            try await worker.ask("call users 7")
            try await worker.ask("failed")
            #expect(await worker.quit() == 0)
        }
        let totals = try await other.ask("totals users")
        // The call that was under way counts in the totals of the next circuit, unless its worker has closed the store.
        #expect(totals.number("failed") == (isClosed ? 1 : 2), "\(totals)")
        #expect(totals.number("succeeded") == (isClosed ? 0 : 7), "\(totals)")
    }

    /// A backup was copied to the place of the file, of a time when other circuits were there.
    @Test(arguments: Self.rules) func whoseFileIsABackupNow(rules: String) async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        for name in ["users", "mail"] { try await first.ask("breaker \(name) \(rules)") }
        try await first.ask("fail mail 10")
        #expect(await first.quit() == 0)
        Foreign.run(place.store, "PRAGMA wal_checkpoint(TRUNCATE)")
        Files.copy(place.store, to: place.directory + "/backup.db")
        // The circuits of the file are others than those of the backup from now on.
        let other = try await place.openWorker()
        for name in ["users", "mail"] {
            try await other.ask("forget \(name)")
            try await other.ask("breaker \(name) \(rules)")
        }
        let worker = try await Self.stopped(place, rules)
        try await other.ask("fail mail 100")
        try await other.ask("fail users 1000")
        unsafe unlink(place.store + "-wal")
        unsafe unlink(place.store + "-shm")
        try #require(unsafe rename(place.directory + "/backup.db", place.store) == 0)
        let newcomer = try await place.openWorker()
        for name in ["users", "mail"] { try await newcomer.ask("breaker \(name) \(rules)") }
        try await newcomer.ask("fail mail")
        try await Self.goOn(worker)
        #expect(await other.quit() == 0)
        let mail = try await newcomer.ask("totals mail")
        #expect(mail.number("failed") == 11, "\(mail)")
        let users = try await newcomer.ask("totals users")
        // Those of the worker that did not know yet.
        #expect(try #require(users.number("failed")) <= 3, "\(users)")
        #expect((7...57).contains(try #require(users.number("succeeded"))), "\(users)")
    }
}

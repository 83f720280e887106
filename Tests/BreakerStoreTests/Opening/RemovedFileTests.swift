import BreakerTestSupport
import CTestSupport
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Files of a store that somebody removes, or takes away and puts back, while the store is open.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RemovedFileTests {
    /// Names that fill pages of the database and of its index.
    private static func name(_ number: Int) -> String { "\(number)" + String(repeating: "n", count: 180) }

    /// A checkpoint beside a reader leaves out pages that were changed again after the reader had begun.
    @Test func aDatabaseThatIsTornWithoutItsLogIsQuarantined() async throws {
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        for number in 140..<180 { _ = try store.breaker(Stores.config(Self.name(number))) }
        // Opens the connection that reads, which could not be opened without the log.
        #expect(try store.breaker(named: Self.name(150)).isCallPermitted)
        let core = try #require(store.backend.core)
        try await Self.checkpointsAreOver(core)
        Foreign.copyLog(of: path)
        for number in 100..<106 { _ = try store.breaker(Stores.config(Self.name(number))) }
        // The store's own checkpoint, if it came later, would copy what the one below leaves out.
        try await Self.checkpointsAreOver(core)
        // Beside a reader of a log that was copied whole, the checkpoint below would copy nothing.
        for number in 106..<112 { _ = try store.breaker(Stores.config(Self.name(number))) }
        var reader: Foreign? = Foreign(path, keepsLog: true)
        reader?.run("BEGIN; SELECT count(*) FROM circuit")
        for number in 180..<192 { _ = try store.breaker(Stores.config(Self.name(number))) }
        Foreign.run(path, "PRAGMA wal_checkpoint(PASSIVE)", keepsLog: true)
        reader?.run("COMMIT")
        reader = nil
        #expect(unsafe unlink(path + "-wal") == 0)
        let breaker = try store.breaker(named: Self.name(150))
        await breaker.recordFailure()
        #expect(await eventually { store.isHealthy })
        #expect(Foreign.value(path, "PRAGMA integrity_check") == "ok")
        #expect(Files.quarantine(in: directory).contains { $0.hasPrefix("a.db.") })
        await breaker.recordFailure()
        #expect(breaker.failureCount == 2)
    }

    private static func checkpointsAreOver(_ core: StoreCore) async throws {
        #expect(await eventually { if case .notDue = core.read({ $0.checkpoint }) { true } else { false } })
        // A checkpoint is no longer due when its copy begins; a commit follows the copy.
        try await core.commit(until: Deadline(after: .hangLimit)) { _ in }
    }

    /// An empty log in the place of the one that was removed would hide the loss: what this process wrote behind frames
    /// that are gone would be gone, too.
    @Test func readingMakesNoLog() async throws {
        let path = try Workplace.here.directory + "/a.db"
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        // No circuit is used yet, so that the connection that reads is not open.
        let core = try #require(store.backend.core)
        let identity = try #require(core.answers.identity)
        #expect(unsafe unlink(path + "-wal") == 0)
        #expect(throws: BreakerStoreError.self) { try core.row(of: "a") }
        #expect(unsafe access(path + "-wal", F_OK) != 0)
        // Also if the log goes after the look at the files.
        let file = store.backend.file
        #expect(throws: BreakerStoreError.self) { try Database.sharing(file, as: identity) }
        #expect(unsafe access(path + "-wal", F_OK) != 0)
        let breaker = try store.breaker(Stores.config(maxFailures: 100))
        for _ in 0..<2 { await breaker.recordFailure() }
        #expect(await eventually { store.isHealthy && breaker.failureCount == 2 })
    }

    /// Nothing is set aside that SQLite finds whole.
    @Test func aDatabaseThatIsWholeWithoutItsLogIsKept() async throws {
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config(maxFailures: 100))
        for _ in 0..<3 { await breaker.recordFailure() }
        Foreign.copyLog(of: path)
        #expect(unsafe unlink(path + "-wal") == 0)
        await breaker.recordFailure()
        // The failure may be told to the file that was opened anew only some time after that.
        #expect(await eventually { store.isHealthy && breaker.failureCount == 4 })
        #expect(Files.quarantine(in: directory).isEmpty)
    }

    #if BREAKERSTORE_HOOKS
    /// A database is put back while a worker makes another one in its place: the log beside it is no stray.
    @Test(arguments: ["creation.begin", "strays.moved"])
    func aDatabaseThatComesBackHasItsLog(moment: String) async throws {
        await #expect(processExitsWith: .success) { [directory = try Workplace.here.directory as String, moment] in
            let path = directory + "/a.db"
            let parked = directory + "/parked.db"
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            let breaker = try store.breaker(Stores.config(maxFailures: 100))
            for _ in 0..<3 { breaker.recordFailure() }
            Hook.install { name in if name == moment { unsafe rename(parked, path) } }
            #expect(unsafe rename(path, parked) == 0)
            breaker.recordFailure()
            while !store.isHealthy || breaker.failureCount != 4 { usleep(1_000) }
            #expect(!Directory.names(in: directory).contains { $0.contains(".stray-") })
            store.close()
            #expect(Foreign.value(path, "PRAGMA integrity_check") == "ok")
        }
    }
    #endif
}

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

/// Another store that takes the place of an open one, as when a copy is restored.
@Suite(.ownDirectory, .timeLimit(.minutes(1))) struct ReplacedFileTests {
    /// SQLite would take the log for the newcomer's, and its pages with it.
    @Test(arguments: ["at once", "after a stranger's"])
    func newcomerIsNotReadThroughTheLogThatWasLeft(comes: String) async throws {
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        let copy = directory + "/copy.db"
        try Self.makeCopy(copy)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let breaker = try store.breaker(Stores.config(maxFailures: 100))
        for _ in 0..<3 { await breaker.recordFailure() }
        if comes != "at once" {
            let stranger = directory + "/stranger.db"
            Foreign.run(stranger, "CREATE TABLE guest (name TEXT)")
            #expect(unsafe rename(stranger, path) == 0)
            await breaker.recordFailure()
            #expect(await eventually { !store.isHealthy })
        }
        #expect(unsafe rename(copy, path) == 0)
        await breaker.recordFailure()
        #expect(await eventually { store.isHealthy })
        #expect(try store.circuit(named: "copied")?.failures.count == 1)
        #expect(Directory.names(in: directory).contains { $0.hasPrefix("a.db-wal.stray-") })
        #expect(Foreign.value(path, "PRAGMA quick_check") == "ok")
    }

    /// Nobody has noticed that anything else was there in between.
    @Test func whoLooksLooksAtTheStoreOnceItIsBack() throws {
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        _ = try store.breaker(Stores.config())
        let stranger = directory + "/stranger.db"
        Foreign.run(stranger, "CREATE TABLE guest (name TEXT)")
        #expect(unsafe rename(path, directory + "/parked.db") == 0)
        #expect(unsafe rename(stranger, path) == 0)
        #expect(throws: BreakerStoreError.self) { try store.circuits() }
        #expect(unsafe rename(directory + "/parked.db", path) == 0)
        #expect(try store.circuits().map(\.name) == ["a"])
    }

    #if BREAKERSTORE_HOOKS
    /// It was garbage that was found broken.
    @Test func storeThatComesBackIsNotSetAsideInPlaceOfWhatWasBroken() async {
        await #expect(processExitsWith: .success) {
            try Files.withDirectory { directory in
                let path = directory + "/a.db"
                try Stores.make(path)
                #expect(unsafe rename(path, directory + "/parked.db") == 0)
                Files.write(QuarantineTests.garbage, to: path)
                Hook.install { name in
                    if name == "quarantine.due" { unsafe rename(directory + "/parked.db", path) }
                }
                let store = try CircuitStore(path: path, configuration: Stores.configuration())
                #expect(try store.circuit(named: "a")?.failures.count == 1)
                store.close()
            }
        }
    }
    #endif

    private static func makeCopy(_ path: String) throws {
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        let breaker = try store.breaker(Stores.config("copied"))
        breaker.recordFailure()
        store.close()
        Foreign.run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    }
}

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

/// The blocks that a full disk can't take away.
@Suite(.timeLimit(.minutes(10))) struct ReserveTests {
    @Test func isAllocatedAtCreation() throws {
        try Files.withDirectory { directory in
            try Stores.make("\(directory)/a.db")
            #expect(Directory.allocatedBytes(of: "\(directory)/a.db") >= 256 * 4096)
            #expect(Directory.allocatedBytes(of: "\(directory)/a.db-wal") >= 256 * 4096)
        }
    }

    /// The sqlite3 shell deletes the log if it is the last to close.
    @Test func isAllocatedAgainWhenTheLogHasGone() throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            try Stores.make(path)
            Foreign.run(path, "PRAGMA user_version")
            #expect(Directory.names(in: directory) == ["a.db", "a.db-board", "a.db-lock"])
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            #expect(Directory.allocatedBytes(of: "\(path)-wal") >= 256 * 4096)
            #expect(Directory.allocatedBytes(of: path) < 2 * 256 * 4096)
            #expect(try store.circuit(named: "a")?.failures.count == 1)
            store.close()
        }
    }

    #if os(Linux)
    @Test(.enabled(if: geteuid() == 0, "only root may mount a small file system"))
    func aFullDiskStopsNothing() async {
        await #expect(processExitsWith: .success) {
            try FullDisk.use { disk, path, store, breaker in
                for _ in 0..<100 {
                    for _ in 0..<5 { breaker.recordFailure() }
                    // On a machine under load a report may come after its caller's deadline.
                    guard comesTrue({ breaker.state.isOpen }), store.isHealthy else {
                        Issue.record("\(breaker.state) \(store.health)")
                        break
                    }
                    try breaker.reset()
                }
                guard store.isHealthy else {
                    _ = Issue.record("\(store.health)")
                    return
                }
                #expect(try store.history(of: "a", limit: 1_000).count >= 200)
                store.close()
                // SQLite by itself can die of a full disk.
                disk.free()
                #expect(Foreign.value(path, "PRAGMA quick_check") == "ok")
            }
        }
    }

    /// As long as somebody has the guard the log can't be copied, and grows beyond its reserve.
    @Test(.enabled(if: geteuid() == 0, "only root may mount a small file system"))
    func aLogThatOutgrewItsReserveIsCopiedThoughTheDiskIsFull() async {
        await #expect(processExitsWith: .success) {
            try FullDisk.use { disk, path, store, breaker in
                let lock = try LockFile(path: path + "-lock", creatingWith: nil, owner: nil)
                try lock.withSetupLock(until: Deadline(after: .hangLimit)) { () throws(BreakerStoreError) in
                    let file = try StoreFile(resolving: path)
                    let other = try Database.sharing(file, as: FileIdentity(of: file))
                    try other.connection.waitWhenBusy(.seconds(10))
                    while (try? other.run("UPDATE circuit SET registered = registered + 1")) != nil {}
                    breaker.recordFailure()
                    #expect(!store.isHealthy)
                }
                #expect(comesTrue { store.isHealthy })
                store.close()
                // SQLite by itself can die of a full disk.
                disk.free()
                #expect(Foreign.value(path, "PRAGMA quick_check") == "ok")
            }
        }
    }
    #endif
}

#if os(Linux)
/// A file system of a few megabytes with a store, filled up to the last byte.
private enum FullDisk {
    static func use(_ body: (SmallDisk, String, CircuitStore, CircuitBreaker) throws -> Void) throws {
        try Files.withDirectory { directory in
            let disk = try SmallDisk(at: directory, megabytes: 6)
            defer { disk.clear() }
            let path = "\(disk.directory)/a.db"
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            let breaker = try store.breaker(Stores.config(maxFailures: 5))
            try disk.fill()
            try body(disk, path, store, breaker)
        }
    }
}
#endif

import Synchronization
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A pipe at one of a store's names keeps nobody waiting: open(2) of one waits until somebody writes to it.
@Suite(.timeLimit(.minutes(10))) struct SpecialFileTests {
    static let endings = ["-wal", "-shm", "-journal", "-lock"]

    /// Runs `body` in a process that the kernel ends if it hangs.
    private static func withinMinutes(_ body: (String) throws -> Void) throws {
        // The threads of Swift's pool block most signals, and this process has inherited that.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGALRM)
        unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        alarm(300)
        try Files.withDirectory(body)
    }

    private static func makePipe(_ path: String) {
        unsafe unlink(path)
        unsafe mkfifo(path, 0o600)
    }

    /// Somebody puts it there while the store is open, and a connection is opened next.
    @Test func viewerIsRefused() async {
        await #expect(processExitsWith: .success) {
            try Self.withinMinutes { directory in
                let path = "\(directory)/a.db"
                let store = try CircuitStore(path: path, configuration: Stores.configuration())
                try store.breaker(Stores.config()).recordFailure()
                Self.makePipe("\(path)-journal")
                let error = #expect(throws: BreakerStoreError.self) { try store.history(of: "a") }
                #expect(error?.code == .unsafePath && error?.path == "\(path)-journal", "\(error as Any)")
                unsafe unlink("\(path)-journal")
                #expect(try store.circuits().count == 1)
                store.close()
            }
        }
    }

    /// The store's own thread opens the file anew: it keeps no guard, and comes back once the pipe is gone.
    @Test(arguments: Self.endings) func reopeningIsRefused(ending: String) async {
        await #expect(processExitsWith: .success) { [ending] in
            try Self.withinMinutes { directory in
                let path = "\(directory)/a.db"
                var configuration = Stores.configuration()
                configuration.firstRetry = .milliseconds(1)
                let store = try CircuitStore(path: path, configuration: configuration)
                let breaker = try store.breaker(Stores.config())
                Self.makePipe(path + ending)
                if ending == "-journal" { unsafe unlink("\(path)-shm") }
                let attempts = Atomic<Int>(0)
                Hook.install { if $0 == "open.begin" { attempts.add(1, ordering: .relaxed) } }
                breaker.recordFailure()
                #expect(comesTrue { attempts.load(ordering: .relaxed) >= 3 })
                #expect(!store.isHealthy)
                if ending != "-lock" {
                    let lock = try LockFile(path: "\(path)-lock", creatingWith: nil, owner: nil)
                    try lock.withSetupLock(until: Deadline(after: .seconds(100))) {}
                }
                unsafe unlink(path + ending)
                #expect(comesTrue { store.isHealthy })
                store.close()
            }
        }
    }

    /// It comes between our look and SQLite's, which opens the journal with a connection's first read, under the guard.
    @Test(arguments: ["-journal", "-wal", "-shm"]) func comesWhileTheStoreIsOpened(ending: String) async {
        await #expect(processExitsWith: .success) { [ending] in
            try Self.withinMinutes { directory in
                let path = "\(directory)/a.db"
                try Stores.make(path)
                Hook.install { if $0 == "open.connected" { Self.makePipe(path + ending) } }
                let error = #expect(throws: BreakerStoreError.self) {
                    try CircuitStore(path: path, configuration: Stores.configuration())
                }
                Hook.install(nil)
                #expect(error?.code == .unsafePath, "\(error as Any)")
                unsafe unlink(path + ending)
                try CircuitStore(path: path, configuration: Stores.configuration()).close()
            }
        }
    }

    /// One who only reads opens the index, and the database itself, for reading alone: that waits, too.
    @Test(arguments: ["shared", "immutable", "private"], ["-journal", "-wal", "-shm", ""])
    func comesWhileAReaderOpens(reader: String, ending: String) async {
        await #expect(processExitsWith: .success) { [reader, ending] in
            let access: Connection.Access =
                reader == "shared" ? .sharedReader : reader == "private" ? .privateReader : .immutable
            try Self.withinMinutes { directory in
                let path = "\(directory)/a.db"
                try Stores.make(path)
                if ending.isEmpty { Self.makePipe(path) }
                do throws(BreakerStoreError) {
                    let connection = try Connection(path: path, access: access)
                    Self.makePipe(path + ending)
                    _ = try connection.integer("SELECT count(*) FROM circuit")
                    // It reads neither the log nor its index.
                    #expect(access == .immutable && !ending.isEmpty || access == .privateReader && ending == "-shm")
                } catch {
                    #expect(error.code == .unsafePath, "\(error)")
                }
            }
        }
    }

    /// Looking again and again opens the file now and then.
    @Test(arguments: Self.endings + [""]) func watchIsRefused(ending: String) async {
        await #expect(processExitsWith: .success) { [ending] in
            try Self.withinMinutes { directory in
                let path = "\(directory)/a.db"
                try Stores.make(path)
                let store = try CircuitStore(path: path, configuration: Stores.configuration(.readOnly))
                let watch = store.watch()
                _ = try watch.inspectIfChanged { inspection, _ throws(BreakerStoreError) in try inspection.names() }
                Self.makePipe(path + ending)
                let error = #expect(throws: BreakerStoreError.self) { try store.circuits() }
                #expect(error?.code == .unsafePath && error?.path == path + ending, "\(error as Any)")
                do throws(BreakerStoreError) {
                    _ = try watch.inspectIfChanged { inspection, _ throws(BreakerStoreError) in try inspection.names() }
                    // Nothing of it is read, or told by, the other two.
                    #expect(ending == "-journal" || ending == "-lock")
                } catch {
                    #expect(error.code == .unsafePath && error.path == path + ending, "\(error)")
                }
            }
        }
    }
}

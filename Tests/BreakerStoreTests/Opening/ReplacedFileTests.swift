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

/// Another store that takes the place of an open one, as when a copy is restored.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ReplacedFileTests {
    enum Newcomer: CaseIterable, Codable, Sendable {
        case garbage, stranger, store

        func make(_ path: String) throws {
            switch self {
            case .garbage: Files.write(QuarantineTests.garbage, to: path)
            case .stranger: Foreign.run(path, Strangers.log)
            case .store: try ReplacedFileTests.makeCopy(path)
            }
        }
    }

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
            #expect(unsafe rename(Self.makeStranger(in: directory), path) == 0)
            await breaker.recordFailure()
            #expect(await eventually { !store.isHealthy })
        }
        #expect(unsafe rename(copy, path) == 0)
        await breaker.recordFailure()
        #expect(await eventually { store.isHealthy })
        #expect(try await store.circuit(named: "copied")?.failures.count == 1)
        #expect(Directory.names(in: directory).contains { $0.hasPrefix("a.db-wal.stray-") })
        #expect(Foreign.value(path, "PRAGMA quick_check") == "ok")
    }

    /// Once nothing has changed in the directory for a moment, a commit looks at the directory alone.
    @Test(arguments: ["a.db", "a.db-wal"])
    func commitFindsThatAFileWasTakenFromASettledDirectory(name: String) async throws {
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        let core = try #require(store.backend.core)
        func commit() -> Bool { (try? core.commit(until: Deadline(after: .hangLimit)) { _ in }) != nil }
        _ = try store.breaker(Stores.config())
        #expect(await eventually { DirectoryStamp(directory)?.isSettled == true })
        #expect(synchronously { commit() && commit() })
        #expect(unsafe rename(directory + "/" + name, directory + "/taken") == 0)
        // By chance the store's thread may have noticed first, and may have made the file again.
        #expect(!synchronously(commit) || Directory.names(in: directory).contains(name))
        #expect(await eventually { Directory.names(in: directory).contains(name) && store.isHealthy })
    }

    @Test func directoryShowsEachChangeOfAName() async throws {
        let directory = try Workplace.here.directory
        let (one, two) = (directory + "/one", directory + "/two")
        for change in ["make", "make another", "replace", "rename", "remove"] {
            #expect(await eventually { DirectoryStamp(directory)?.isSettled == true })
            let before = try #require(DirectoryStamp(directory))
            #expect(DirectoryStamp(directory) == before)
            switch change {
            case "make": Files.write("1".utf8, to: one)
            case "make another": Files.write("2".utf8, to: two)
            case "replace", "rename": #expect(unsafe rename(two, one) == 0 || rename(one, two) == 0)
            default: #expect(unsafe unlink(two) == 0)
            }
            #expect(DirectoryStamp(directory) != before, "\(change)")
        }
        #expect(DirectoryStamp(two) == nil)
    }

    /// Nobody has noticed that anything else was there in between.
    @Test func readsUseTheStoreAgainAfterRecovery() throws {
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        defer { store.close() }
        _ = try store.breaker(Stores.config())
        let stranger = Self.makeStranger(in: directory)
        #expect(unsafe rename(path, directory + "/parked.db") == 0)
        #expect(unsafe rename(stranger, path) == 0)
        #expect(throws: BreakerStoreError.self) { try store.circuits() }
        #expect(unsafe rename(directory + "/parked.db", path) == 0)
        #expect(try store.circuits().map(\.name) == ["a"])
    }

    /// Read through the log that lies beside it, its first page would be a store's.
    @Test(arguments: [Newcomer.garbage, .stranger])
    func newcomerIsNotTakenForTheStoreWhoseLogIsThere(_ newcomer: Newcomer) throws {
        let directory = try Workplace.here.directory
        let path = directory + "/a.db"
        let other = directory + "/other.db"
        try newcomer.make(other)
        let bytes = Files.read(other)
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        // Names take pages from the reserve, which the first page keeps the account of.
        for number in 0..<50 {
            _ = try store.breaker(Stores.config(String(repeating: "n", count: 180) + "\(number)"))
        }
        store.close()
        #expect(unsafe ts_exchange(path, other) == 0)
        let opened = Result { try CircuitStore(path: path, configuration: Stores.configuration()) }
        (try? opened.get())?.close()
        switch newcomer {
        case .garbage:
            // It is set aside, and the log with it.
            #expect(Files.quarantine(in: directory).count { $0.hasPrefix("a.db-wal.") } == 1)
        case .stranger:
            #expect(throws: BreakerStoreError.self) { try opened.get() }
            let isAsItWas = Files.read(path) == bytes
            #expect(isAsItWas)
            #expect(unsafe ts_exchange(path, other) == 0)
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            #expect(try store.circuits().count == 50)
            store.close()
        case .store:
            break
        }
        let broken = Files.quarantine(in: directory).first { $0.hasPrefix("a.db.") }
        let isKept = broken.map { Files.read("\(directory)/\($0)") == bytes } ?? true
        #expect(isKept)
        #expect(Foreign.value(path, "PRAGMA integrity_check") == "ok")
    }

    #if BREAKERSTORE_HOOKS
    @Test func newcomerThatComesWhileItIsOpenedIsNotReadThroughTheLogThatWasLeft() async {
        await #expect(processExitsWith: .success) {
            try Files.withDirectory { directory in
                let path = directory + "/a.db"
                let copy = directory + "/copy.db"
                try Self.makeCopy(copy)
                let stranger = Self.makeStranger(in: directory)
                let store = try CircuitStore(path: path, configuration: Stores.configuration())
                let breaker = try store.breaker(Stores.config(maxFailures: 100))
                for _ in 0..<3 { breaker.recordFailure() }
                Hook.install { name in if name == "open.begin" { unsafe rename(copy, path) } }
                #expect(unsafe rename(stranger, path) == 0)
                breaker.recordFailure()
                while !store.isHealthy { usleep(1_000) }
                #expect(try store.circuit(named: "copied")?.failures.count == 1)
                #expect(Directory.names(in: directory).contains { $0.hasPrefix("a.db-wal.stray-") })
                store.close()
                #expect(Foreign.value(path, "PRAGMA integrity_check") == "ok")
            }
        }
    }

    /// The new file is locked at the moment in which this process registers its circuits there.
    @Test func circuitsAreRegisteredInTheNewFileHoweverLate() async {
        await #expect(processExitsWith: .success) {
            try Files.withDirectory { directory in
                let path = directory + "/a.db"
                var configuration = Stores.configuration()
                configuration.busyTimeout = .milliseconds(50)
                let store = try CircuitStore(path: path, configuration: configuration)
                _ = try store.breaker(Stores.config())
                let tries = Locked(0)
                let lock = Locked<Foreign?>(nil)
                Hook.install { name in
                    guard name == "circuits.registering" else { return }
                    let isFirst = tries.withLock { tries in
                        tries += 1
                        return tries == 1
                    }
                    let other = isFirst ? Foreign(path) : nil
                    other?.run("BEGIN IMMEDIATE")
                    lock.withLock { $0 = other }
                }
                for ending in ["", "-wal", "-shm"] { unsafe unlink(path + ending) }
                #expect(throws: BreakerStoreError.self) { try store.reset("a") }
                while tries.withLock({ $0 }) == 0 { usleep(1_000) }
                // The store's thread has given up.
                usleep(200_000)
                lock.withLock { $0 = nil }
                while Foreign.value(path, "SELECT group_concat(name) FROM circuit") != "a" { usleep(1_000) }
                // Only then calls use the file.
                while !store.isHealthy { usleep(1_000) }
                store.close()
            }
        }
    }

    /// SQLite opens it by its name; the log that lies beside it would be read through it, and copied into it.
    ///
    /// The opening begins anew where the right file is back, and else leaves all as it is.
    @Test(arguments: Newcomer.allCases, [true, false])
    func whatComesBetweenExaminingAndOpeningIsNotWrittenTo(_ newcomer: Newcomer, _ goesAgain: Bool) async {
        await #expect(processExitsWith: .success) { [newcomer, goesAgain] in
            try Files.withDirectory { directory in
                let path = directory + "/a.db"
                let other = directory + "/other.db"
                try Stores.make(path)
                try newcomer.make(other)
                let bytes = Files.read(other)
                let step = Locked(0)
                Hook.install { name in
                    let swaps = step.withLock { step in
                        switch (step, name) {
                        case (0, "open.decided"): step = 1
                        case (1, "open.connected") where goesAgain: step = 2
                        default: return false
                        }
                        return true
                    }
                    if swaps { unsafe ts_exchange(path, other) }
                }
                let opened = Result { try CircuitStore(path: path, configuration: Stores.configuration()) }
                Hook.install(nil)
                #expect(step.withLock { $0 } == (goesAgain ? 2 : 1))
                #expect(((try? opened.get()) != nil) == goesAgain)
                (try? opened.get())?.close()
                if !goesAgain { unsafe ts_exchange(path, other) }
                let isAsItWas = Files.read(other) == bytes
                #expect(isAsItWas)
                let store = try CircuitStore(path: path, configuration: Stores.configuration())
                #expect(try store.circuit(named: "a")?.failures.count == 1)
                store.close()
                #expect(Foreign.value(path, "PRAGMA integrity_check") == "ok")
            }
        }
    }

    /// What was refused is looked at again under the guard, by the lock file that has the worker's byte.
    @Test func aStoreThatReopensKeepsItsWorkerThroughARefusal() async {
        await #expect(processExitsWith: .success) {
            try Files.withDirectory { directory in
                let path = directory + "/a.db"
                let parked = directory + "/parked.db"
                try Stores.make(path)
                let file = try StoreFile(resolving: path)
                var opening = Opening(
                    file: file, configuration: Stores.configuration(), clock: StoreClock(SystemHostClock()),
                    onQuarantine: { _ in })
                let first = try opening.run()
                opening.previous = .init(lock: first.lock, worker: first.worker.id)
                #expect(unsafe rename(path, parked) == 0)
                #expect(unsafe rename(Self.makeStranger(in: directory), path) == 0)
                let isBack = Locked(false)
                Hook.install { name in
                    if name == "open.guarded", unsafe rename(parked, path) == 0 { isBack.withLock { $0 = true } }
                }
                let second = try opening.run()
                #expect(isBack.withLock { $0 } && second.worker.id == first.worker.id)
            }
        }
    }
    #endif

    /// Makes a database of another program; returns its path.
    private static func makeStranger(in directory: String) -> String {
        let path = directory + "/stranger.db"
        Foreign.run(path, "CREATE TABLE guest (name TEXT)")
        return path
    }

    fileprivate static func makeCopy(_ path: String) throws {
        let store = try CircuitStore(path: path, configuration: Stores.configuration())
        let breaker = try store.breaker(Stores.config("copied"))
        breaker.recordFailure()
        store.close()
        Foreign.run(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    }
}

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

/// What counts as a new store, and by which names one is known.
@Suite(.timeLimit(.minutes(10))) struct NewFileTests {
    @Test(arguments: [true, false])
    func anEmptyFileIsNew(isThere: Bool) throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            if isThere { Files.write([], to: path) }
            let before = Listing(directory)
            for access in [Access.existing, .readOnly] {
                let error = #expect(throws: BreakerStoreError.self) {
                    try CircuitStore(path: path, configuration: Stores.configuration(access))
                }
                #expect(error?.code == .notFound && error?.path == path)
                #expect(Listing(directory) == before)
            }
            try Stores.make(path)
            let store = try CircuitStore(path: path, configuration: Stores.configuration(.existing))
            #expect(try store.circuit(named: "a")?.failures.count == 1)
            store.close()
        }
    }

    @Test func aDanglingLinkIsCreatedAtItsTarget() throws {
        try Files.withDirectory { directory in
            unsafe mkdir("\(directory)/d", 0o700)
            unsafe symlink("d/b.db", "\(directory)/a.db")
            try Stores.make("\(directory)/a.db")
            #expect(
                Directory.names(in: "\(directory)/d") == [
                    "b.db", "b.db-board", "b.db-lock", "b.db-shm", "b.db-wal",
                ])
            #expect(Directory.names(in: directory) == ["a.db", "d"])
        }
    }

    @Test func twoNamesAreOneStore() throws {
        try Files.withDirectory { directory in
            let one = try CircuitStore(path: "\(directory)/b.db", configuration: Stores.configuration())
            unsafe symlink("b.db", "\(directory)/a.db")
            unsafe symlink(directory, "\(directory)/self")
            let two = try CircuitStore(path: "\(directory)/self/a.db", configuration: Stores.configuration())
            #expect(one.backend.core === two.backend.core)
            one.close()
            try two.breaker(Stores.config()).recordFailure()
            #expect(try two.circuit(named: "a")?.failures.count == 1)
            two.close()
        }
    }

    /// What is longer is refused beforehand: SQLite must take this.
    @Test func theLongestPathWorks() throws {
        try Files.withDirectory { directory in
            var path = directory
            while path.utf8.count < 300 {
                path += "/" + String(repeating: "d", count: 90)
                unsafe mkdir(path, 0o700)
            }
            path += "/" + String(repeating: "a", count: 499 - path.utf8.count)
            try Stores.make(path)
            #expect(Foreign.value("\(path)", "PRAGMA quick_check") == "ok")
            Foreign.run(path, "PRAGMA journal_mode = DELETE; CREATE TABLE later (x)")
            try Stores.make(path)
        }
    }

    /// A log that has lost its database would be taken for the new one's.
    @Test func aStrayLogIsMovedAside() throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            try Strangers.make("\(directory)/b", ["-wal", "-shm"], Strangers.log)
            unsafe rename("\(directory)/b-wal", "\(path)-wal")
            unsafe rename("\(directory)/b-shm", "\(path)-shm")
            let log = Listing(directory)["a.db-wal"]?.bytes
            try Stores.make(path)
            #expect(Foreign.value(path, "PRAGMA quick_check") == "ok")
            let aside = Directory.names(in: directory).filter { $0.contains("-wal.stray-") }
            #expect(aside.count == 1 && Files.read("\(directory)/\(aside.first ?? "")") == log)
        }
    }
}

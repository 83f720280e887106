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

/// Reads a log without an index: no file is made anywhere, so that none is left when the reader is killed.
@Suite(.timeLimit(.minutes(10))) struct PrivateReaderTests {
    @Test(arguments: ["no index", "a torn index"]) func readsTheLogWithoutAFile(index: String) async {
        await #expect(processExitsWith: .success) { [index] in
            try Files.withDirectory { directory in
                let path = "\(directory)/a.db"
                try Stores.make(path)
                #expect(StoreFile.size("\(path)-wal") ?? 0 > 0)
                unsafe unlink("\(path)-shm")
                if index == "a torn index" { Files.write([UInt8](repeating: 0, count: 32_768), to: "\(path)-shm") }
                let before = Listing(directory)
                // A copy would have to be made there.
                unsafe setenv("TMPDIR", "\(directory)/nowhere", 1)
                for _ in 0..<3 {
                    let store = try CircuitStore(path: path, configuration: Stores.configuration(.readOnly))
                    let circuit = try store.circuits().first
                    #expect(circuit?.failures.count == 1)
                    store.close()
                }
                #expect(Listing(directory) == before)
            }
        }
    }

    /// SQLite deletes the log of a database that it takes for empty, even where it only reads.
    @Test(arguments: [Connection.Access.privateReader, .sharedReader, .immutable], [0, 1])
    func leavesTheLogOfAnEmptyDatabase(access: Connection.Access, size: Int) throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            try Stores.make(path)
            Files.write([UInt8](repeating: 0, count: size), to: path)
            let before = Listing(directory)
            let reader = try Connection(path: path, access: access)
            _ = try? reader.integer("SELECT count(*) FROM sqlite_schema")
            #expect(Listing(directory) == before)
        }
    }

    /// To close it drops no lock of another store in this process on the same file.
    ///
    /// The lock is asked for by another program, not by a child of `fork`: the store's thread may be within SQLite.
    @Test func leavesTheLocksOfThisProcess() throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            defer { store.close() }
            try store.breaker(Stores.config()).recordFailure()
            do {
                let reader = try Connection(path: path, access: .privateReader)
                #expect(try reader.integer("SELECT count(*) FROM failure") == 1)
            }
            #expect(try ForeignProgram.output(of: "take_alone.py", [path]) == "exclusive\ndatabase is locked\n")
        }
    }
}

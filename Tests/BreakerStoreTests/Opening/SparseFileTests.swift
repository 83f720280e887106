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

/// Files that claim a tebibyte and have nothing: of one no more is read than what is in it.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct SparseFileTests {
    private static let huge: off_t = 1 << 40

    /// A log's header with a checksum that is right.
    private static func header(pageSize: UInt32, version: UInt32 = 3_007_000) -> [UInt8] {
        // In the order of bytes of the big end, salts of zero.
        var words: [UInt32] = [0x377F_0683, version, pageSize, 0, 0, 0]
        var (first, second): (UInt32, UInt32) = (0, 0)
        for place in stride(from: 0, to: 6, by: 2) {
            first &+= words[place] &+ second
            second &+= words[place + 1] &+ first
        }
        words += [first, second]
        return words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } }
    }

    /// The first page's frame, in which the schema's version stands.
    private static func frame(pageSize: Int, version: UInt8) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: 24 + pageSize)
        frame[3] = 1
        frame[24 + 63] = version
        return frame
    }

    /// Runs `body`, and expects that this thread reads less than so many bytes meanwhile.
    ///
    /// Only Linux counts what a thread reads. Elsewhere reading a tebibyte takes longer than a test may.
    private static func reading(lessThan most: Int64 = 64 << 20, _ body: () throws -> Void) rethrows {
        let before = Self.bytesRead
        try body()
        let read = Self.bytesRead - before
        #expect(read < most, "\(read) bytes")
    }

    private static var bytesRead: Int64 {
        let text = String(decoding: Files.read("/proc/thread-self/io") ?? [], as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("rchar: ") }
        return line.flatMap { Int64($0.dropFirst(7)) } ?? 0
    }

    @Test(arguments: [512, 4_096, 65_536]) func logWithoutFramesHasNoVersions(pageSize: Int) throws {
        let path = try Workplace.here.directory + "/a.db-wal"
        let frames = (7...9).flatMap { Self.frame(pageSize: pageSize, version: $0) }
        var bytes = Self.header(pageSize: UInt32(pageSize)) + frames
        // No frame is of page 0: SQLite does not look at those behind it.
        bytes[32 + 24 + pageSize + 3] = 0
        Files.write(bytes, to: path)
        unsafe truncate(path, Self.huge)
        var versions: [Int64] = []
        try Self.reading { versions = try LogFile.versions(at: path) }
        #expect(versions == [7])
    }

    /// What SQLite takes for an empty log.
    @Test(
        arguments: [
            (0, 3_007_000), (256, 3_007_000), (513, 3_007_000), (1_000, 3_007_000), (131_072, 3_007_000),
            (4_096, 3_007_001), (4_096, 0),
        ] as [(UInt32, UInt32)]) func otherHeaderIsNone(pageSize: UInt32, version: UInt32) throws
    {
        let path = try Workplace.here.directory + "/a.db-wal"
        let frame = Self.frame(pageSize: max(512, Int(pageSize)), version: 7)
        Files.write(Self.header(pageSize: pageSize, version: version) + frame, to: path)
        #expect(try LogFile.versions(at: path) == [])
        #expect(try LogFile.at(path)?.hasFrames == false)
    }

    /// In place of a store's own log, of a database beside whose log there is no index, and of both.
    @Test(arguments: ["log", "log of nothing", "database", "both"], [Access.readOnly, .existing])
    func storeIsReadAtOnce(what: String, access: Access) throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        Files.remove("\(path)-shm")
        if what == "log of nothing" { Files.write(Self.header(pageSize: 4_096), to: "\(path)-wal") }
        if what != "database" { unsafe truncate("\(path)-wal", Self.huge) }
        if what == "database" || what == "both" { unsafe truncate(path, Self.huge) }
        Self.reading {
            guard let store = try? CircuitStore(path: path, configuration: Stores.configuration(access)) else { return }
            _ = try? store.circuits()
            store.close()
        }
        #expect(["", "-wal"].reduce(0) { $0 + Directory.allocatedBytes(of: path + $1) } < 8 << 20)
    }

    /// A broken one is looked through before it is set aside, but not all of it.
    @Test(.timeLimit(.minutes(10)), arguments: ["", "-wal"]) func brokenStoreIsQuarantined(ending: String) throws {
        let path = try Workplace.here.store
        try Stores.make(path)
        var bytes = Files.read(path) ?? []
        for place in 100..<min(bytes.count, 60_000) { bytes[place] = 0xA5 }
        Files.remove("\(path)-wal")
        Files.remove("\(path)-shm")
        Files.write(bytes, to: path)
        if ending == "-wal" { Files.write(Self.header(pageSize: 4_096), to: "\(path)-wal") }
        unsafe truncate(path + ending, Self.huge)
        // A gibibyte is looked through.
        try Self.reading(lessThan: 2 << 30) {
            try CircuitStore(path: path, configuration: Stores.configuration()).close()
        }
        let names = Files.quarantine(in: try Workplace.here.directory)
        #expect(names.contains { $0.hasPrefix("circuits.db.") }, "\(names)")
    }

    /// A log with more frames than a private index has room for is refused with a reason.
    @Test func longLogIsRefused() throws {
        let path = try Workplace.here.store
        let pages = Connection.maxPrivateFrames + 10
        let other = Foreign(path, keepsLog: true)
        other.run(
            """
            PRAGMA page_size = 512; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF;
            CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(\(pages * 508)));
            """)
        let file = try StoreFile(resolving: path)
        let copy = try Workplace.here.directory + "/copy.db"
        for ending in ["", "-wal"] { Files.copy(path + ending, to: copy + ending) }
        let copied = try StoreFile(resolving: copy)
        let error = #expect(throws: BreakerStoreError.self) { try Self.rows(copied) }
        #expect(error?.code == .unavailable && error?.path == "\(copy)-wal", "\(error as Any)")
        #expect(error?.message.contains("more than 262144 pages") == true, "\(error as Any)")
        #expect(try Self.rows(file) == 1)
        withExtendedLifetime(other) {}
        // Nor is it looked through to its end for versions of the schema.
        let log = try #require(Files.read("\(copy)-wal"))
        var last = Self.frame(pageSize: 512, version: 7)
        last[8..<16] = log[16..<24]
        Files.write(log + last, to: "\(copy)-wal")
        let versions = try LogFile.versions(at: "\(copy)-wal")
        #expect(!versions.isEmpty && !versions.contains(7), "\(versions)")
    }

    private static func rows(_ file: StoreFile) throws(BreakerStoreError) -> Int64 {
        try BystanderReader.read(file) { (database) throws(BreakerStoreError) in
            try database.connection.integer("SELECT count(*) FROM sqlite_schema")
        }
    }
}

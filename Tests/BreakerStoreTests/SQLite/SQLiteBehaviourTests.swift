import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What the library relies on beyond SQLite's documented functions, for `make versions` to hold against each version.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct SQLiteBehaviourTests {
    private let path: String

    init() throws { self.path = try Workplace.here.store }

    /// Another program, which makes the database, and never a checkpoint.
    private func stock(pageSize: Int = 4_096) -> Foreign {
        let stock = Foreign(self.path, keepsLog: true)
        stock.run("PRAGMA page_size = \(pageSize); PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        stock.run("CREATE TABLE t(x)")
        return stock
    }

    private func connection() throws -> Database {
        let database = Database(try Connection(path: self.path, access: .readWrite))
        try database.connection.configureForSharing()
        // There is no wal-index before the first read.
        _ = try database.connection.integer("PRAGMA user_version")
        return database
    }

    private func header(_ database: Database) throws -> WalIndexHeader {
        WalIndexHeader(try self.index(database))
    }

    private func index(_ database: Database) throws -> WalIndex {
        let index = database.connection.walIndex()
        return try #require(index)
    }

    private func log() throws -> LogBytes { LogBytes(bytes: try #require(Files.read(self.path + "-wal"))) }

    private static let insert = "INSERT INTO t VALUES (randomblob(3000))"

    /// A connection that was opened to read copies all of the log, and syncs as the library wants it, whatever the
    /// system's SQLite was compiled to do.
    @Test(arguments: [true, false]) func aCheckpointThroughAReader(syncs: Bool) throws {
        let stock = self.stock()
        let database = try self.connection()
        for _ in 0..<3 { stock.run(Self.insert) }
        #expect(try self.index(database).pendingFrames > 0)
        let file = try StoreFile(resolving: self.path)
        let reader = try Database.sharing(file, as: FileIdentity(of: file), syncs: syncs)
        try database.checkpoint(through: reader, until: Deadline(after: .hangLimit))
        #expect(try self.index(database).pendingFrames == 0)
        #expect(try reader.connection.integer("PRAGMA synchronous") == (syncs ? 1 : 0))
    }

    @Test(arguments: [512, 4_096, 32_768, 65_536]) func theHeaderOfTheIndex(pageSize: Int) throws {
        let stock = self.stock(pageSize: pageSize)
        let database = try self.connection()
        for _ in 0..<3 {
            let before = try self.header(database)
            stock.run(Self.insert)
            let header = try self.header(database)
            let log = try self.log()
            #expect(header.copies[0] == header.copies[1])
            #expect(header.version == 3_007_000)
            #expect(header.isInitialised)
            #expect(!header.checksumsAreBigEndian)
            #expect(header.changes == before.changes + 1)
            #expect(header.pageSize == pageSize)
            #expect(Int(header.frames) == log.frames(ofPages: pageSize))
            #expect(stock.value("PRAGMA page_count") == "\(header.pages)")
            #expect(
                header.checksumOfLastFrame == log.checksum(ofFrame: Int(header.frames), ofPages: pageSize))
            #expect(header.salts == log.salts)
            #expect(header.checksum == header.checksumOfFields)
            #expect(header.copiedFrames == 0)
            // The same by the library's own reading.
            let index = try self.index(database)
            #expect(index.tag().isReliable)
            #expect(index.frames == Int(header.frames))
            #expect(index.pendingFrames == Int(header.frames))
        }
        // What SQLite hands out through its file object is the file that all processes share. Last of all: to close a
        // file by hand drops this process's locks on it.
        let header = try self.header(database)
        #expect(try #require(Files.read(self.path + "-shm")).prefix(136) == header.bytes[...])
    }

    @Test func theLockOfATransaction() throws {
        let stock = self.stock()
        let (first, second) = (try self.connection(), try self.connection())
        let before = try self.header(first)
        try first.connection.changeSchema("BEGIN IMMEDIATE")
        #expect(try self.header(first) == before, "to begin changes nothing")
        #expect(stock.value("SELECT count(*) FROM t") == "0", "readers go on")
        do {
            try second.connection.execute("BEGIN IMMEDIATE")
            Issue.record("two write at once")
        } catch {
            #expect(error.code == .busy)
        }
        try first.connection.execute("COMMIT")
        #expect(try self.header(first) == before)
        // One who has read may not write over what others have committed since, nor wait for it.
        try second.connection.changeSchema("BEGIN; SELECT count(*) FROM t")
        stock.run(Self.insert)
        do {
            try second.connection.changeSchema(Self.insert)
            Issue.record("it wrote on an old view of the file")
        } catch {
            #expect(error.code == .busy)
        }
    }

    @Test func theLogThatBeginsAgain() throws {
        let stock = self.stock()
        let database = try self.connection()
        for _ in 0..<20 { stock.run(Self.insert) }
        let full = try self.header(database)
        let size = try self.log().bytes.count

        try database.connection.passiveCheckpoint()
        let copied = try self.header(database)
        #expect(copied.copies == full.copies, "a checkpoint is no commit")
        #expect(copied.copiedFrames == full.frames)
        #expect(try self.index(database).pendingFrames == 0)

        stock.run(Self.insert)
        let anew = try self.header(database)
        #expect(anew.salts != full.salts)
        #expect(anew.changes == full.changes + 1)
        #expect(anew.frames < full.frames)
        #expect(anew.copiedFrames == 0)
        let log = try self.log()
        #expect(anew.salts == log.salts)
        #expect(log.bytes.count == size, "the log keeps its size")
        #expect(stock.value("SELECT count(*) FROM t") == "21")
    }

    @Test func aReaderKeepsTheLog() throws {
        let stock = self.stock()
        let reader = Foreign(self.path, keepsLog: true)
        let database = try self.connection()
        stock.run(Self.insert)
        reader.run("BEGIN; SELECT count(*) FROM t")
        stock.run(Self.insert)
        let before = try self.header(database)
        try database.connection.passiveCheckpoint()
        let after = try self.header(database)
        #expect(after.copiedFrames < before.frames, "what the reader does not see is not copied")
        stock.run(Self.insert)
        #expect(try self.header(database).frames > before.frames)
        #expect(reader.value("SELECT count(*) FROM t") == "1")
    }

    @Test func closingLeavesAll() throws {
        do {
            let stock = self.stock()
            stock.run(Self.insert)
            let database = try self.connection()
            withExtendedLifetime((stock, database)) {}
        }
        do {
            let database = try self.connection()
            try database.connection.changeSchema(Self.insert)
        }
        let last = [self.path, self.path + "-wal"].map(Files.read)
        do { _ = try self.connection() }
        #expect([self.path, self.path + "-wal"].map(Files.read) == last, "who closes copies nothing")
        #expect(Files.read(self.path + "-shm") != nil)
        #expect(try self.log().frames(ofPages: 4_096) > 0)
        #expect(Foreign.value(self.path, "SELECT count(*) FROM t") == "2")
    }
}

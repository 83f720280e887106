@testable import BreakerStore

/// The frames of a log, beside a database.
///
/// The first byte of the input chooses, the next two say how many bytes of a database follow; the others are the log.
struct LogTarget: Target {
    private let scratch: Scratch
    private let file: StoreFile
    /// Where SQLite itself reads the same files.
    private let twin: StoreFile
    private let sample: SampleStore

    private struct Choices: OptionSet {
        let rawValue: UInt8
        /// Salts and checksums are made right, which libFuzzer would not manage.
        static let isRepaired = Choices(rawValue: 1)
        static let hasIndex = Choices(rawValue: 2)
        static let hasLock = Choices(rawValue: 4)
        static let isTorn = Choices(rawValue: 8)
        static let hasOwnDatabase = Choices(rawValue: 16)
    }

    init(_ scratch: Scratch) throws {
        self.scratch = scratch
        self.sample = try SampleStore(in: scratch)
        try scratch.place([:])
        self.file = try StoreFile(resolving: scratch.store)
        self.twin = try StoreFile(resolving: scratch.store + "-twin")
    }

    func feed(_ bytes: [UInt8]) throws {
        guard bytes.count >= 3 else { return }
        let choices = Choices(rawValue: bytes[0])
        var log = Array(bytes[3...])
        var database = self.sample.database
        if choices.contains(.hasOwnDatabase) {
            let count = min(Int(bytes[1]) | Int(bytes[2]) << 8, log.count)
            database = Array(log[..<count])
            log.removeFirst(count)
        }
        if choices.contains(.isTorn), database.count > 100 {
            database.replaceSubrange(..<100, with: repeatElement(0, count: 100))
        }
        if choices.contains(.isRepaired) { LogChecksums.mend(&log) }
        var files = ["": database, "-wal": log]
        if choices.contains(.hasIndex) { files["-shm"] = self.sample.index }
        if choices.contains(.hasLock) { files["-lock"] = LockFile.magic }
        try self.scratch.place(files)
        try self.requireBounds(of: log)
        let found = try? BystanderReader.read(self.file, Self.read)
        _ = try? OpeningFacts.isStore(self.file)
        try self.scratch.requireUntouched(files)
        // Whoever has an index believes it.
        if !choices.contains(.hasIndex) { try self.compare(found, database, log) }
    }

    private func requireBounds(of log: [UInt8]) throws {
        guard let known = try LogFile.at(self.file.log) else { throw Violation("no log was found") }
        try require(!known.hasFrames || log.count > 32, "frames in \(log.count) bytes")
        try known.readThrough()
        let versions = try LogFile.versions(at: self.file.log)
        try require(versions.count <= log.count / (24 + 512) + 1, "\(versions.count) versions in \(log.count) bytes")
    }

    private static func read(_ database: Database) throws(BreakerStoreError) -> [Int64] {
        [
            try database.connection.integer("PRAGMA user_version"),
            try database.connection.integer("SELECT max(epoch) FROM circuit WHERE typeof(epoch) = 'integer'"),
        ]
    }

    /// What was read must be what SQLite reads when it may write.
    private func compare(_ found: [Int64]?, _ database: [UInt8], _ log: [UInt8]) throws {
        try self.scratch.place(["-twin": database, "-twin-wal": log])
        let expected = try? Self.read(Database(try Connection(path: self.twin.path, access: .readWrite)))
        guard let expected, let found else { return }
        try require(found == expected, "\(found) was read, SQLite reads \(expected)")
    }

    var seeds: [[UInt8]] {
        let (database, log) = (self.sample.database, self.sample.log)
        let size = [UInt8(truncatingIfNeeded: database.count), UInt8(truncatingIfNeeded: database.count >> 8)]
        let frames = Array(log.prefix(32 + 2 * (24 + 512)))
        let none: [UInt8] = [0, 0]
        return [
            [0] + none + log, [1] + none + frames, [3] + none + frames, [4] + none + frames, [12] + none + log,
            [17] + size + database + frames, [0] + none + log.prefix(32), [0] + none + log.prefix(31),
            [1] + none + frames.dropLast(400), [0] + none,
        ]
    }
}

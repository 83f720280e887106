@testable import BreakerStore

/// The first bytes of a database, and whose file it is.
///
/// The first byte of the input says what lies beside the file, the others are the file.
struct HeaderTarget: Target {
    private let scratch: Scratch
    private let file: StoreFile
    private let sample: SampleStore

    init(_ scratch: Scratch) throws {
        self.scratch = scratch
        self.sample = try SampleStore(in: scratch)
        try scratch.place([:])
        self.file = try StoreFile(resolving: scratch.store)
    }

    func feed(_ bytes: [UInt8]) throws {
        let choices = bytes.first ?? 0
        let database = Array(bytes.dropFirst())
        var files = ["": database]
        if choices & 1 != 0 { files["-lock"] = LockFile.magic }
        if choices & 2 != 0 { files["-wal"] = self.sample.log }
        if choices & 4 != 0 { files["-journal"] = [0] }
        try self.scratch.place(files)
        let header = DatabaseHeader(database)
        let isDatabase = database.count >= 100 && database.starts(with: "SQLite format 3\0".utf8)
        try require((header != nil) == isDatabase, "a header was \(header == nil ? "not " : "")found")
        if let header {
            try require(header.userVersion == Self.number(database, 60), "user_version \(header.userVersion)")
            try require(header.applicationID == Self.number(database, 68), "application_id \(header.applicationID)")
        }
        // Whoever it is: he keeps his file as it was.
        let isStore = try? OpeningFacts.isStore(self.file)
        try require(isStore != false || database.isEmpty || isDatabase, "a stranger's file was taken for a new one")
        try require(isStore == nil || isDatabase || choices & 2 != 0 || database.isEmpty, "it passed for a store")
        try self.scratch.requireUntouched(files)
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int64 {
        Int64(Int32(truncatingIfNeeded: bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }))
    }

    var seeds: [[UInt8]] {
        let whole = self.sample.database
        let start = Array(whole.prefix(512))
        return [
            [0], [0] + start, [1] + start, [3] + start, [4] + start, [0] + whole.prefix(99), [0] + "no database".utf8,
            [3, 0, 0], [0] + whole.prefix(16) + [UInt8](repeating: 0, count: 84),
        ]
    }
}

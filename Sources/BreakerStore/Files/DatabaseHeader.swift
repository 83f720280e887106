/// The header of a database file (https://sqlite.org/fileformat2.html#the_database_header).
struct DatabaseHeader: Equatable {
    let userVersion: Int64
    /// Whether SQLite can write files of this format; it only reads files of a later format.
    let isWritable: Bool
    let applicationID: Int64

    private static let magic = Array("SQLite format 3\0".utf8)
    static let size = 100
    static let userVersionOffset = 60
    /// The "file format write version": 1 means a rollback journal, 2 a write-ahead log.
    private static let newestWriteVersion = 2

    /// Parses the header; nil if the bytes are not of an SQLite database.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.size, bytes.starts(with: Self.magic) else { return nil }
        func number(at offset: Int) -> Int64 {
            Int64(Int32(truncatingIfNeeded: bytes[offset..<offset + 4].reduce(Int64(0)) { $0 << 8 | Int64($1) }))
        }
        self.isWritable = bytes[18] <= Self.newestWriteVersion
        self.userVersion = number(at: Self.userVersionOffset)
        self.applicationID = number(at: 68)
    }
}

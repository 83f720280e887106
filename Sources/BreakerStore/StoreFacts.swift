/// What a store's file is.
public struct StoreFacts: Sendable, Hashable {
    /// The file's schema, such as `1.0`.
    public var schemaVersion: String
    /// The SQLite library that this process has loaded.
    public var sqliteVersion: String
    /// This library.
    public var libraryVersion: String
    /// The database's bytes, without its log.
    public var fileSize: Int64
    /// How many circuits there are.
    public var circuitCount: Int
    /// The names of circuits whose rows can't be read, with U+FFFD for bytes that are no UTF-8.
    public var unreadable: [String]
    /// Whether this process counts calls for itself alone, because it has no board: the file beside the database in
    /// which processes count together.
    public var countsPrivately: Bool

    /// Creates facts, as a test may need them.
    public init(
        schemaVersion: String, sqliteVersion: String, libraryVersion: String, fileSize: Int64 = 0,
        circuitCount: Int = 0, unreadable: [String] = [], countsPrivately: Bool = false
    ) {
        self.schemaVersion = schemaVersion
        self.sqliteVersion = sqliteVersion
        self.libraryVersion = libraryVersion
        self.fileSize = fileSize
        self.circuitCount = circuitCount
        self.unreadable = unreadable
        self.countsPrivately = countsPrivately
    }
}

/// Facts about a store's file and this process's libraries.
public struct StoreFacts: Sendable, Hashable {
    /// The version of the file's schema, such as `1.0`.
    public var schemaVersion: String
    /// The version of SQLite that this process has loaded.
    public var sqliteVersion: String
    /// The version of this library.
    public var libraryVersion: String
    /// The size of the database in bytes, without its log.
    public var fileSize: Int64
    /// How many circuits the file has, unreadable ones included.
    public var circuitCount: Int
    /// The names of circuits whose rows can't be read, with U+FFFD for bytes that are not UTF-8.
    public var unreadable: [String]
    /// Whether this process counts calls for itself alone, without a board.
    ///
    /// The board is the file beside the database in which processes count together.
    public var countsPrivately: Bool

    /// Creates facts for tests.
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

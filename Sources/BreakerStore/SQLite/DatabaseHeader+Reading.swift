extension DatabaseHeader {
    /// Reads the header of a file without locks; nil if the file is no SQLite database.
    init?(of file: StoreFile) throws(BreakerStoreError) {
        try StoreFile.requireReadable(file.path)
        guard let bytes = try Connection.firstBytes(Self.size, of: file.path) else { return nil }
        self.init(bytes)
    }

    /// Whether a file is long enough for a header, and has zeros in its place.
    static func isZero(of file: StoreFile) throws(BreakerStoreError) -> Bool {
        try Connection.firstBytes(Self.size, of: file.path)?.allSatisfy { $0 == 0 } ?? false
    }
}

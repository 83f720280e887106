extension DatabaseHeader {
    /// Reads the header of a file without locks; nil if the file is no SQLite database.
    init?(of file: StoreFile) throws(BreakerStoreError) {
        try StoreFile.requireReadable(file.path)
        let connection = try Connection(path: file.path, access: .immutable)
        guard let bytes = try connection.firstBytes(Self.size) else { return nil }
        self.init(bytes)
    }

    /// Whether a file is long enough for a header, and has zeros in its place.
    static func isZero(of file: StoreFile) throws(BreakerStoreError) -> Bool {
        let bytes = try Connection(path: file.path, access: .immutable).firstBytes(Self.size)
        return bytes?.allSatisfy { $0 == 0 } ?? false
    }
}

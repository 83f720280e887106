extension DatabaseHeader {
    /// Reads the header of a file without locks; nil if the file is no SQLite database.
    init?(of file: StoreFile) throws(BreakerStoreError) {
        try StoreFile.requireReadable(file.path)
        let connection = try Connection(path: file.path, access: .immutable)
        guard let bytes = try connection.firstBytes(Self.size) else { return nil }
        self.init(bytes)
    }
}

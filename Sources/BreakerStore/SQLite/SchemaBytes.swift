import BreakerStoreMigrations

/// All that a schema says of its tables and indexes, one after the other, in one array of bytes.
///
/// Nearly every file says to the byte what the library's steps say: comparing these bytes costs an opening next to
/// nothing.
struct SchemaBytes: Equatable {
    private var bytes: [UInt8] = []

    /// What the steps make; nil if that can't be told from their texts.
    init?(createdBy steps: [Migration]) {
        var bytes: [UInt8] = []
        let isWhole = SchemaStatement.forEach(of: steps) { statement in
            statement.type.withUTF8Buffer { unsafe Self.append($0, to: &bytes) }
            unsafe statement.name.withUnsafeBufferPointer { unsafe Self.append($0, to: &bytes) }
            unsafe statement.table.withUnsafeBufferPointer { unsafe Self.append($0, to: &bytes) }
            unsafe statement.sql.withUnsafeBufferPointer { unsafe Self.append($0, to: &bytes) }
        }
        guard isWhole else { return nil }
        self.bytes = bytes
    }

    /// - Parameter schema: `SchemaObject.all`, on the connection to the file.
    init(_ schema: borrowing Statement) throws(BreakerStoreError) {
        self.bytes.reserveCapacity(4_096)
        try schema.read([]) { row in
            for column in 0..<SchemaObject.columnCount {
                unsafe row.withText(column) { unsafe Self.append($0, to: &self.bytes) }
            }
            // A longer one is another one.
            return self.bytes.count < Self.most
        }
    }

    private static let most = 1 << 20

    /// The length stands before the bytes: a zero byte, or anything else, in one value begins no other.
    private static func append(_ value: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        unsafe withUnsafeBytes(of: value.count.littleEndian) { unsafe bytes.append(contentsOf: $0) }
        unsafe bytes.append(contentsOf: value)
    }
}

import BreakerStoreMigrations

/// All that a schema says of its tables and indexes, one after the other, in one array of bytes.
///
/// Nearly every file says to the byte what the library's steps make: comparing these bytes costs an opening next to
/// nothing.
struct SchemaBytes: Equatable {
    private(set) var bytes: [UInt8] = []

    /// What all steps make.
    static let made = SchemaBytes(bytes: Migration.made)

    private init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter schema: `SchemaObject.all`, on the connection to the file.
    init(_ schema: borrowing Statement) throws(BreakerStoreError) {
        self.bytes.reserveCapacity(Migration.made.count + 1_024)
        try schema.read([]) { row in
            for column in 0..<SchemaObject.columnCount {
                unsafe row.withText(column) { unsafe self.append($0) }
            }
            self.bytes.append(UInt8(ascii: "\n"))
            // A longer one is another one.
            return self.bytes.count <= Migration.made.count
        }
    }

    /// The objects of which the bytes speak; nil if the bytes are none of a schema.
    var objects: [SchemaObject]? {
        var rest = self.bytes[...]
        var objects: [SchemaObject] = []
        while !rest.isEmpty {
            var values: [String] = []
            for _ in 0..<SchemaObject.columnCount {
                guard let value = Self.takeValue(from: &rest) else { return nil }
                values.append(value)
            }
            guard rest.popFirst() == UInt8(ascii: "\n") else { return nil }
            objects.append(SchemaObject(type: values[0], name: values[1], table: values[2], sql: values[3]))
        }
        return objects
    }

    private static func takeValue(from bytes: inout ArraySlice<UInt8>) -> String? {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let count = Int(String(decoding: bytes[..<colon], as: UTF8.self)),
            (0..<bytes.endIndex - colon - 1).contains(count)
        else { return nil }
        let (start, end) = (colon + 1, colon + 1 + count)
        guard bytes[end] == UInt8(ascii: ",") else { return nil }
        defer { bytes = bytes[(end + 1)...] }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// The length stands before the bytes: a zero byte, or anything else, in one value begins no other.
    private mutating func append(_ value: UnsafeBufferPointer<UInt8>) {
        self.append(value.count)
        self.bytes.append(UInt8(ascii: ":"))
        unsafe self.bytes.append(contentsOf: value)
        self.bytes.append(UInt8(ascii: ","))
    }

    private mutating func append(_ number: Int) {
        if number > 9 { self.append(number / 10) }
        self.bytes.append(UInt8(ascii: "0") + UInt8(number % 10))
    }
}

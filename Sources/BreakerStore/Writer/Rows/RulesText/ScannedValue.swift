/// A value of a JSON text, with the bytes that it was read from.
package struct ScannedValue: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case object([ScannedMember])
        case array([ScannedValue])
        /// The text's bytes, without escapes.
        case string(ArraySlice<UInt8>)
        /// A number's digits are read only where the number is needed.
        case number
        case boolean(Bool)
        case null
    }

    package let kind: Kind
    /// The value's bytes in the text.
    let text: ArraySlice<UInt8>

    /// The number, if it was written without a fraction and an exponent; nil for anything else, and if it doesn't fit.
    ///
    /// No other kind of value has bytes that read as a number.
    package var integer: Int64? { Int64(String(decoding: self.text, as: UTF8.self)) }

    /// The number, however it was written; nil for anything else.
    package var number: Double? { Double(String(decoding: self.text, as: UTF8.self)) }

    var members: [ScannedMember]? {
        guard case .object(let members) = self.kind else { return nil }
        return members
    }

    /// The text's bytes as a text; nil for anything else.
    var string: String? {
        guard case .string(let bytes) = self.kind else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value, for people.
    var description: String {
        switch self.kind {
        case .object: "an object"
        case .array: "a list"
        case .string: "a text"
        case .number where self.text.count > 30: "a number of \(self.text.count) digits"
        case .number, .boolean, .null: String(decoding: self.text, as: UTF8.self)
        }
    }
}

/// A member of an object.
package struct ScannedMember: Sendable, Hashable {
    /// The key's bytes, without escapes.
    ///
    /// Keys are compared as bytes, because Swift's strings may be equal with different bytes.
    let key: ArraySlice<UInt8>
    /// The key's bytes in the text, with its quotation marks.
    let keyText: ArraySlice<UInt8>
    package let value: ScannedValue

    /// The key, for people.
    package var name: String { String(decoding: self.key, as: UTF8.self) }
}

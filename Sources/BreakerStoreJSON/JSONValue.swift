#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A JSON value, written on one line with its keys in order.
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    package static func text(_ value: String?) -> JSONValue { value.map(Self.string) ?? .null }
    package static func count(_ value: some BinaryInteger) -> JSONValue { .integer(Int64(clamping: value)) }

    static func texts(_ values: [String]) -> JSONValue { .array(values.map(Self.string)) }

    /// A document on one line: an object with these members and the version of the document's form.
    package static func document(_ members: [String: JSONValue]) -> String {
        var text = ""
        JSONValue.object(members.merging(["version": .integer(1)]) { $1 }).append(to: &text)
        return text + "\n"
    }

    package func append(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let value): text += value.isFinite ? "\(value)" : "null"
        case .string(let value): Self.append(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                value.append(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { text += "," }
                Self.append(member.key, to: &text)
                text += ":"
                member.value.append(to: &text)
            }
            text += "}"
        }
    }

    /// Escapes control and format characters even where JSON does not ask for it: a terminal may show the document.
    private static func append(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar.value {
            case 0x22: text += "\\\""
            case 0x5C: text += "\\\\"
            case 0x0A: text += "\\n"
            case 0x09: text += "\\t"
            case _ where scalar.isDeceptive:
                for unit in UTF16.encode(scalar).map({ Array($0) }) ?? [] {
                    let digits = String(unit, radix: 16)
                    text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                }
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}

extension Unicode.Scalar {
    /// Whether this scalar controls a terminal, breaks a line, or makes a text look like another one.
    fileprivate var isDeceptive: Bool {
        if self.isASCII { return self.value < 0x20 || self.value == 0x7F }
        switch self.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}

extension [String: JSONValue] {
    /// Adds a time as text under `name`, and as milliseconds under `nameMs`.
    package mutating func set(_ name: String, to date: Date?) {
        self[name] = .text(date?.rfc3339)
        self[name + "Ms"] = date.map { .integer($0.milliseconds) } ?? .null
    }
}

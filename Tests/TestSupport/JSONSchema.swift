package import Foundation

/// A JSON Schema, as far as that of the tool needs it; a keyword that it does not know is a complaint.
package struct JSONSchema {
    private let root: [String: Any]

    package init(contentsOf url: URL) throws {
        self.root = try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any] ?? [:]
    }

    /// What is wrong with a text, which is to be one JSON value; empty if nothing is.
    ///
    /// - Parameter definition: which of the schema's definitions it must meet; nil for the schema itself.
    package func complaints(about text: String, as definition: String? = nil) -> [String] {
        guard let value = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) else {
            return ["it is no JSON: \(text)"]
        }
        let schema = definition.map { ["$ref": "#/$defs/\($0)"] as [String: Any] } ?? self.root
        return self.check(value, schema, at: "$")
    }

    private func check(_ value: Any, _ schema: [String: Any], at place: String) -> [String] {
        schema.flatMap { keyword, rule -> [String] in
            switch keyword {
            case "$schema", "$defs", "title", "description": return []
            case "$ref": return self.check(value, self.resolve(rule), at: place)
            case "type":
                let names = rule as? [String] ?? [rule as? String ?? ""]
                return names.contains { Self.isOf($0, value) } ? [] : ["\(place) is no \(names): \(value)"]
            case "enum":
                let all = rule as? [String] ?? []
                return all.contains(value as? String ?? "") ? [] : ["\(place) is none of \(all): \(value)"]
            case "const": return (rule as? NSObject)?.isEqual(value) == true ? [] : ["\(place) is not \(rule)"]
            case "minimum":
                guard let number = value as? NSNumber, let least = rule as? NSNumber else { return [] }
                return number.doubleValue >= least.doubleValue ? [] : ["\(place) is below \(least)"]
            case "pattern":
                guard let text = value as? String, let pattern = rule as? String else { return [] }
                let fits = text.range(of: pattern, options: .regularExpression) != nil
                return fits ? [] : ["\(place) does not match: \(text)"]
            case "anyOf":
                let choices = rule as? [[String: Any]] ?? []
                let all = choices.map { self.check(value, $0, at: place) }
                return all.contains { $0.isEmpty } ? [] : ["\(place) is none of its kinds: \(all)"]
            case "items":
                let items = value as? [Any] ?? []
                let rule = rule as? [String: Any] ?? [:]
                return items.enumerated().flatMap { self.check($1, rule, at: "\(place)[\($0)]") }
            case "properties":
                let properties = rule as? [String: [String: Any]] ?? [:]
                let members = value as? [String: Any] ?? [:]
                return members.flatMap { name, member in
                    properties[name].map { self.check(member, $0, at: "\(place).\(name)") } ?? []
                }
            case "required":
                let members = value as? [String: Any] ?? [:]
                return (rule as? [String] ?? []).filter { members[$0] == nil }.map { "\(place) lacks \($0)" }
            case "additionalProperties":
                let members = value as? [String: Any] ?? [:]
                let known = schema["properties"] as? [String: Any] ?? [:]
                return members.keys.filter { known[$0] == nil }.map { "\(place) has \($0), of which nothing is known" }
            default: return ["the schema says \(keyword), which is not understood"]
            }
        }
    }

    private func resolve(_ reference: Any) -> [String: Any] {
        let path = (reference as? String ?? "").split(separator: "/").dropFirst()
        let found = path.reduce(self.root as Any?) { ($0 as? [String: Any])?[String($1)] }
        return found as? [String: Any] ?? ["missing definition \(reference)": true]
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        let number = value as? NSNumber
        let isBool = number.map { unsafe String(cString: $0.objCType) == "c" } ?? false
        switch type {
        case "object": return value is [String: Any]
        case "array": return value is [Any]
        case "string": return value is String
        case "null": return value is NSNull
        case "boolean": return isBool
        case "integer": return !isBool && number.map { $0.doubleValue.rounded() == $0.doubleValue } == true
        case "number": return !isBool && number != nil
        default: return false
        }
    }
}

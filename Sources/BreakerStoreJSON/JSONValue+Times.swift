#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension [String: JSONValue] {
    /// Adds a time as text under `name`, and as milliseconds under `nameMs`.
    package mutating func set(_ name: String, to date: Date?) {
        self[name] = .text(date?.rfc3339)
        self[name + "Ms"] = date.map { .integer($0.milliseconds) } ?? .null
    }
}

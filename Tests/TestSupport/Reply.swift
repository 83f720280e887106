/// What a worker answers: words, most of them `key=value`.
package struct Reply: Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ text: String) { self.description = text }

    /// The value of a key; nil if the worker did not tell.
    package subscript(key: String) -> String? {
        for word in self.description.split(separator: " ") {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2, parts[0] == key { return String(parts[1]) }
        }
        return nil
    }

    /// The value of a key as a number.
    package func number(_ key: String) -> Int? { self[key].flatMap { Int($0) } }
}

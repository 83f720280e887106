/// A cache of decoded and encoded rules: many circuits share one text, which is converted once.
final class StoredRulesCache {
    /// The last used first, the rest in no order; not a dictionary, for the reason given at `Database.prepared`.
    private var decoded: [(text: [UInt8], rules: Rules)] = []
    /// The rules of the circuit that was registered last.
    private var encoded: (rules: Rules, text: String)?

    private static let maxDecoded = 16

    /// The rules of the text in a column; nil if the value has another type.
    func rules(_ row: Row, _ column: Int32) -> Rules? {
        if let index = self.decoded.firstIndex(where: { row.isText(column, of: $0.text) }) {
            if index > 0 { self.decoded.swapAt(0, index) }
            return self.decoded[0].rules
        }
        guard row.isText(column) else { return nil }
        if self.decoded.count == Self.maxDecoded { self.decoded.removeLast() }
        let text = row.bytes(column)
        let rules = Rules(storedText: text)
        self.decoded.insert((text, rules), at: 0)
        return rules
    }

    /// The text of rules.
    func text(of rules: Rules) -> String {
        if let encoded, encoded.rules == rules { return encoded.text }
        let text = rules.text
        self.encoded = (rules, text)
        return text
    }
}

extension Database {
    var storedRules: StoredRulesCache {
        if let known = self.rowCache as? StoredRulesCache { return known }
        let cache = StoredRulesCache()
        self.rowCache = cache
        return cache
    }
}

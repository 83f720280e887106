/// The rules that stored texts mean, and back: many circuits share one text, which is decoded and encoded once.
final class StoredRulesCache {
    // The last used first. Not a dictionary: see `Database.prepared`.
    private var decoded: [(text: [UInt8], rules: Rules)] = []
    /// The rules of the circuit that was registered last.
    private var encoded: (rules: Rules, text: String)?

    private static let most = 16

    /// The rules in a column of texts; nil if it holds another type.
    func rules(_ row: Row, _ column: Int32) -> Rules? {
        if let index = self.decoded.firstIndex(where: { row.isText(column, of: $0.text) }) {
            if index > 0 { self.decoded.swapAt(0, index) }
            return self.decoded[0].rules
        }
        guard row.isText(column) else { return nil }
        if self.decoded.count == Self.most { self.decoded.removeLast() }
        let text = row.bytes(column)
        let rules = Rules(storedText: text)
        self.decoded.insert((text, rules), at: 0)
        return rules
    }

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

/// The rules that stored texts mean: many circuits share one text, which is decoded once.
final class StoredRulesCache {
    // The last used first. Not a dictionary: see `Database.prepared`.
    private var decoded: [(text: String, rules: Rules)] = []

    private static let most = 16

    func rules(of text: String) -> Rules {
        if let index = self.decoded.firstIndex(where: { $0.text == text && $0.text.utf8.elementsEqual(text.utf8) }) {
            if index > 0 { self.decoded.swapAt(0, index) }
            return self.decoded[0].rules
        }
        if self.decoded.count == Self.most { self.decoded.removeLast() }
        let rules = Rules(storedText: text)
        self.decoded.insert((text, rules), at: 0)
        return rules
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

import BreakerStore

/// The values of a JSON array as text, in the order of their ranks: very many of them.
struct JSONList {
    private var ranks: [UInt8: String] = [:]

    mutating func append(_ members: [String: JSONValue], rank: UInt8) {
        var text = self.ranks.removeValue(forKey: rank) ?? ""
        if !text.isEmpty { text += "," }
        JSONValue.object(members).append(to: &text)
        self.ranks[rank] = text
    }

    /// Writes a document of this array alone.
    func writeDocument(naming key: String, to console: any Console) {
        console.write("{\"\(key)\":[")
        for (index, text) in self.ranks.sorted(by: { $0.key < $1.key }).map(\.value).enumerated() {
            if index > 0 { console.write(",") }
            console.write(text)
        }
        console.write("],\"version\":1}\n")
    }
}

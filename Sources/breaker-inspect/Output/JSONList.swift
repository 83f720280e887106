import BreakerStore

/// The circuits of a JSON document as text, by rank and name: very many of them.
struct JSONList {
    private struct Item {
        var rank: UInt8
        var name: String
        var text: String
    }

    private var items: [Item] = []

    mutating func append(_ members: [String: JSONValue], named name: String, rank: UInt8) {
        var text = ""
        JSONValue.object(members).append(to: &text)
        self.items.append(Item(rank: rank, name: name, text: text))
    }

    /// Writes a document of these circuits alone, and of the names of those that could not be read.
    func writeDocument(_ unreadable: Unreadable, to console: any Console) {
        console.write("{\"circuits\":[")
        let sorted = self.items.sorted { first, second in
            guard first.rank == second.rank else { return first.rank < second.rank }
            return first.name.utf8.lexicographicallyPrecedes(second.name.utf8)
        }
        for (index, item) in sorted.enumerated() {
            if index > 0 { console.write(",") }
            console.write(item.text)
        }
        var names = ""
        unreadable.json.append(to: &names)
        console.write("],\"unreadable\":\(names),\"version\":1}\n")
    }
}

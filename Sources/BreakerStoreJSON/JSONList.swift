import BreakerStore

/// The document of `list`, with circuits by urgency and name, in a compact form, because there may be very many.
///
/// A circuit's name and the values of its members are stored as bytes; the keys, which all circuits share, are stored
/// once.
package struct JSONList {
    /// Where the bytes of a circuit are: its name, then the values.
    private struct Row {
        var block: UInt32
        var start: UInt32
        /// The offset of the values.
        var values: UInt32
        var end: UInt32
        var rank: UInt8
    }

    private static let blockSize = 65_536
    /// Follows each value; JSON has this character only escaped.
    private static let separator: UInt8 = 0x1F

    private static let null = Array("null".utf8)[...]

    private var keys: [String] = []
    private var rows: [Row] = []
    /// The bytes; several arrays, because a single one would be copied whenever it grows.
    private var blocks: [[UInt8]] = []

    package init() {}

    /// Adds a circuit.
    package mutating func append(_ seen: SeenCircuit) {
        let circuit = seen.snapshot
        let members = JSONValue.circuit(seen)
        // All circuits have the same members.
        if self.rows.isEmpty { self.keys = members.keys.sorted() }
        var bytes = Array(circuit.name.utf8)
        let values = bytes.count
        for key in self.keys {
            var text = ""
            // An empty value stands for null.
            if let value = members[key], value != .null { value.append(to: &text) }
            bytes += text.utf8
            bytes.append(Self.separator)
        }
        if (self.blocks.last?.count ?? Self.blockSize) + bytes.count > Self.blockSize {
            var block: [UInt8] = []
            block.reserveCapacity(max(Self.blockSize, bytes.count))
            self.blocks.append(block)
        }
        let block = self.blocks.count - 1
        let start = self.blocks[block].count
        self.blocks[block] += bytes
        self.rows.append(
            Row(
                block: UInt32(block), start: UInt32(start), values: UInt32(start + values),
                end: UInt32(start + bytes.count), rank: circuit.standing.urgency))
    }

    /// Writes the document piece by piece.
    ///
    /// - Parameters:
    ///   - unreadable: the names of circuits that could not be read.
    ///   - degraded: the workers that can't use the file; nil if all can.
    ///   - write: gets the pieces, one after the other.
    package func writeDocument(unreadable: [String], degraded: SeenDegraded?, _ write: (String) -> Void) {
        write("{\"circuits\":[")
        let keys = self.keys.enumerated().map { Array("\($0 > 0 ? "," : "{")\"\($1)\":".utf8) }
        var line: [UInt8] = []
        for index in RowOrder.sorted(self.rows.count, by: self.precedes) {
            let row = self.rows[index]
            var rest = self.blocks[Int(row.block)][Int(row.values)..<Int(row.end)]
            for key in keys {
                let value = rest.prefix { $0 != Self.separator }
                line += key
                line += value.isEmpty ? Self.null : value
                rest = rest.dropFirst(value.count + 1)
            }
            line.append(UInt8(ascii: "}"))
            write(String(decoding: line, as: UTF8.self))
            line.removeAll(keepingCapacity: true)
            line.append(UInt8(ascii: ","))
        }
        var (names, workers) = ("", "")
        JSONValue.texts(unreadable).append(to: &names)
        JSONValue.degraded(degraded).append(to: &workers)
        write("],\"degraded\":\(workers),\"unreadable\":\(names),\"version\":1}\n")
    }

    /// Whether a circuit comes before another: by rank, then by the bytes of the names.
    private func precedes(_ first: Int, _ second: Int) -> Bool {
        let (one, other) = (self.rows[first], self.rows[second])
        guard one.rank == other.rank else { return one.rank < other.rank }
        return self.name(one).lexicographicallyPrecedes(self.name(other))
    }

    private func name(_ row: Row) -> ArraySlice<UInt8> {
        self.blocks[Int(row.block)][Int(row.start)..<Int(row.values)]
    }
}

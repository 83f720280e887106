#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Table {
    /// The table for people.
    var text: String {
        let head = ["what", "ours", "floor", "comparison", "goal", "verdict"]
        let body = self.rows.map { row in
            [row.what, row.ours, row.floor, row.comparison, row.goal, Self.word(row)]
        }
        let widths = head.indices.map { column in ([head] + body).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            let padded = cells.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return (1...4).contains(column) ? padding + cell : cell + padding
            }
            return "| " + padded.joined(separator: " | ") + " |"
        }
        let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
        let notes = self.notes.map { "- \($0)" }
        return ([line(head), rule] + body.map(line) + [""] + notes).joined(separator: "\n")
    }

    /// The same as one JSON document.
    func json() throws -> String {
        struct Document: Encodable {
            var version = 1
            var passes: Bool
            var rows: [Row]
            var notes: [String]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let document = Document(passes: self.passes, rows: self.rows, notes: self.notes)
        return String(decoding: try encoder.encode(document), as: UTF8.self)
    }

    /// A gate that is missed shouts.
    private static func word(_ row: Row) -> String {
        guard row.isGate else { return row.verdict.rawValue }
        switch row.verdict {
        case .met: return "ok"
        case .notMet: return "FAILED"
        case .void, .notCounted: return row.verdict.rawValue
        }
    }
}

import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The screen of `list --watch`: a headline, as many circuits as fit, and the number of the others.
///
/// Makes rows only of the circuits that are shown: there may be very many others.
struct CircuitsScreen {
    let filter: CircuitFilter
    let path: String
    let width: Int?
    let height: Int?
    let style: Style
    /// Why this host does not reach others that share its circuits.
    var linkTrouble: String?

    /// The lines, at most as many as the terminal has.
    ///
    /// - Parameters:
    ///   - circuits: the circuits; nil if they were never read.
    ///   - trouble: why something can't be read; nil if all can.
    ///   - nothing: the line if there is no circuit to show.
    ///   - now: the wall clock's time.
    func lines(
        _ circuits: StoreImage.Moment?, _ trouble: Failure?, orNothing nothing: String, at now: Date
    ) -> [String] {
        var rows = Array(repeating: [Int](), count: Standing.urgencies)
        for index in 0..<(circuits?.count ?? 0) {
            let standing = Standing(
                circuits?.state(at: index) ?? .closed, circuits?.mode(at: index) ?? .enforcing,
                isDue: circuits?.isDue(at: index) ?? false)
            if self.filter.admits(standing, group: circuits?.group(at: index)) {
                rows[Int(standing.urgency)].append(index)
            }
        }
        var states = StateCounts()
        for (urgency, indices) in rows.enumerated() { states.add(UInt8(urgency), indices.count) }
        var lines = [
            self.headline(states, circuits?.live, now)
        ]
        for text in [trouble?.message, self.linkTrouble, circuits?.live.notice].compactMap(\.self) {
            lines.append(self.style.paint(self.cut(text), .bad) + "\n")
        }
        guard let circuits, states.total > 0 else { return lines + [self.cut(String(nothing.dropLast())) + "\n"] }
        let room = self.height.map { max(0, $0 - lines.count) } ?? .max
        // A row takes one line or two.
        var count = min(states.total, room)
        while true {
            let shown = self.table(of: circuits, rows, atMost: count)
            if shown.count <= room || count == 0 { return lines + shown }
            count = max(0, count - max(1, (shown.count - room) / 2))
        }
    }

    /// The lines of the table, and one with the number of the others.
    private func table(of circuits: StoreImage.Moment, _ rows: [[Int]], atMost count: Int) -> [String] {
        var table = Table.circuits()
        var hidden = StateCounts()
        var left = count
        for (urgency, indices) in rows.enumerated() {
            let shown = min(indices.count, left)
            for index in indices.prefix(shown) { table.append(circuits[index]) }
            hidden.add(UInt8(urgency), indices.count - shown)
            left -= shown
        }
        var lines: [String] = []
        table.forEachLine(width: self.width, onScreen: true, self.style) { lines.append($0) }
        if hidden.total > 0 { lines.append(self.cut("(\(hidden.total) more: \(hidden.text))") + "\n") }
        return lines
    }

    private func headline(_ states: StateCounts, _ live: LiveWorkers?, _ now: Date) -> String {
        let none = live?.count == 0 ? ", no live worker" : ""
        let degraded = live?.degraded.count ?? 0
        let workers = degraded == 0 ? none : ", \(degraded.counted("worker")) degraded"
        let rest = "\(now.readable.suffix(9))  \(states.sum)\(workers)"
        let path = self.path.escaped
        let room = self.width.map { $0 - rest.displayWidth - 2 } ?? .max
        let line = room > 1 ? "\(path.cutInside(to: room))  \(rest)" : self.cut(rest)
        return self.style.paint(line, .heading) + "\n"
    }

    private func cut(_ text: String) -> String { self.width.map { text.cut(to: $0) } ?? text }
}

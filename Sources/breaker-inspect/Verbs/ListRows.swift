import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// The rows of `list`; on a terminal without room for all, those of the circuits that are not closed, or that flap.
struct ListRows {
    /// The rows to print.
    struct Shown {
        let table: Table
        /// How many closed circuits are left out.
        let hidden: Int
        /// Whether the first rows leave the screen.
        let isTooLong: Bool
    }

    /// The terminal's lines; nil without a terminal.
    private let height: Int?
    private let mayHide: Bool
    private var all = Table.circuits()
    private var important = Table.circuits()
    private(set) var states = StateCounts()

    /// - Parameters:
    ///   - height: the terminal's lines; nil without a terminal.
    ///   - showsAll: whether a terminal, too, gets the rows of all circuits.
    init(height: Int?, showsAll: Bool) {
        self.height = height
        self.mayHide = height != nil && !showsAll
    }

    mutating func append(_ circuit: InspectedCircuit) {
        let urgency = circuit.snapshot.standing.urgency
        self.states.add(urgency)
        guard self.mayHide, let height else { return self.all.append(circuit) }
        // Once there are too many for the terminal, no more are needed to see that.
        if self.states.total <= height { self.all.append(circuit) }
        if urgency != StateWord.closed.urgency || circuit.flaps { self.important.append(circuit) }
    }

    /// The rows for a terminal of this width.
    ///
    /// - Parameter linesBelow: how many lines come below the rows.
    func shown(width: Int?, linesBelow: Int) -> Shown {
        let isTooLong = self.isTooLong(self.all, width, linesBelow)
        guard self.mayHide, isTooLong else { return Shown(table: self.all, hidden: 0, isTooLong: isTooLong) }
        let hidden = self.states.total - self.important.count
        return Shown(
            table: self.important, hidden: hidden,
            isTooLong: self.isTooLong(self.important, width, linesBelow + (hidden > 0 ? 1 : 0)))
    }

    private func isTooLong(_ table: Table, _ width: Int?, _ linesBelow: Int) -> Bool {
        guard let height, !table.isEmpty else { return false }
        // Each row takes a line at least, and so does the heading.
        guard table.count + 1 + linesBelow <= height else { return true }
        var lines = linesBelow
        table.forEachLine(width: width, Style(isColored: false)) { lines += String($0.dropLast()).rows(of: width) }
        return lines > height
    }
}

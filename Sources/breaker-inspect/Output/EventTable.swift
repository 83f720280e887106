import BreakerStore
import BreakerTool

/// Events for people, in the order given.
struct EventTable {
    private static let dayLength = 10

    private let namesCircuits: Bool
    private let isBrief: Bool
    /// Whether each day stands on its own line, and the events have the time of day alone.
    private let isByDay: Bool
    private var table: Table
    /// The days of the rows.
    private var days: [String] = []
    private var shownDay: String?
    private var hasHeading = false

    /// - Parameters:
    ///   - namingCircuits: whether the events are of several circuits.
    ///   - mayGrow: whether later events will follow, in the same columns.
    ///   - isBrief: whether each event takes two lines of a terminal at most.
    ///   - onTerminal: whether people read it, so that the date stands once a day.
    init(_ events: [EventLine], namingCircuits: Bool, mayGrow: Bool = false, isBrief: Bool = false, onTerminal: Bool) {
        (self.namesCircuits, self.isBrief, self.isByDay) = (namingCircuits, isBrief, onTerminal)
        var columns: [Table.Column] = [
            .init(title: "TIME"), .init(title: "CIRCUIT", isName: true, usualWidth: mayGrow ? 12 : 0),
            .init(title: "EVENT", usualWidth: mayGrow ? 8 : 0),
            .init(title: "CHANGE", presence: isBrief ? .whereRoomy : .whereItFits, usualWidth: mayGrow ? 19 : 0),
            // With room for the usual names of workers and their pids.
            .init(title: "WHO", minimumWidth: 32, mayStandBelow: true, usualWidth: mayGrow ? 12 : 0),
            .init(title: "REASON", mayStandBelow: true, usualWidth: mayGrow ? 6 : 0),
        ]
        if !namingCircuits { columns.remove(at: 1) }
        self.table = Table(columns: columns)
        for event in events { self.append(event) }
    }

    mutating func append(_ line: EventLine) {
        let moment = line.event.at.readable
        self.days.append(String(moment.prefix(Self.dayLength)))
        var row: [Table.Cell] = [
            .init(text: self.isByDay ? String(moment.dropFirst(Self.dayLength + 1)) : moment),
            .init(text: line.event.circuit?.escaped ?? "(the store)"),
            .init(text: line.what), .init(text: line.change), .init(text: line.who), .init(text: line.reason),
        ]
        if !self.namesCircuits { row.remove(at: 1) }
        self.table.append(row)
    }

    /// Passes the lines of the events since the last printing to `body`, the heading first.
    ///
    /// - Parameter width: the columns of the terminal; if nil, nothing is cut.
    mutating func print(width: Int?, _ style: Style, _ body: (String) -> Void) {
        guard let first = self.days.first, let last = self.days.last else { return }
        func line(of day: String) -> String { style.paint(day, .heading) + "\n" }
        if self.isByDay, self.shownDay != first { body(line(of: first)) }
        let days = self.days
        self.table.forEachLine(
            width: width, withHeading: !self.hasHeading, isBrief: self.isBrief, style,
            above: { row in
                guard self.isByDay, row > 0, days[row] != days[row - 1] else { return nil }
                return line(of: days[row])
            }, body)
        (self.hasHeading, self.shownDay, self.days) = (true, last, [])
        self.table.removeRows()
    }
}

import BreakerStore
import BreakerTool

extension Table {
    /// Events for people, in the order given.
    ///
    /// - Parameters:
    ///   - events: the events.
    ///   - namingCircuits: whether the events are of several circuits.
    ///   - mayGrow: whether later events will follow, in the same columns.
    ///   - isBrief: whether texts are cut so that each event takes one line of a terminal.
    static func events(
        _ events: [EventLine], namingCircuits: Bool, mayGrow: Bool = false, isBrief: Bool = false
    ) -> Table {
        var columns: [Column] = [
            .init(title: "TIME"), .init(title: "CIRCUIT", isName: true, usualWidth: mayGrow ? 12 : 0),
            .init(title: "EVENT", usualWidth: mayGrow ? 8 : 0),
            .init(title: "CHANGE", presence: isBrief ? .whereRoomy : .whereItFits, usualWidth: mayGrow ? 19 : 0),
            .init(title: "WHO", minimumWidth: 6, usualWidth: mayGrow ? 12 : 0),
            .init(title: "REASON", minimumWidth: 6, mayStandBelow: !isBrief),
        ]
        if !namingCircuits { columns.remove(at: 1) }
        var table = Table(columns: columns)
        for event in events { table.append(event, namingCircuits: namingCircuits) }
        return table
    }

    mutating func append(_ line: EventLine, namingCircuits: Bool) {
        var row: [Cell] = [
            .init(text: line.event.at.readable), .init(text: line.event.circuit?.escaped ?? "(the store)"),
            .init(text: line.what), .init(text: line.change), .init(text: line.who), .init(text: line.reason),
        ]
        if !namingCircuits { row.remove(at: 1) }
        self.append(row)
    }
}

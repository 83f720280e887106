import BreakerStore

extension Table {
    /// Events for people, in the order given.
    ///
    /// - Parameter mayGrow: whether others will follow, whose columns are to stand below these.
    static func events(_ events: [CircuitEvent], namingCircuits: Bool, mayGrow: Bool = false) -> Table {
        var columns: [Column] = [
            .init(title: "TIME"), .init(title: "CIRCUIT", minimumWidth: 8, usualWidth: mayGrow ? 12 : 0),
            .init(title: "EVENT", usualWidth: mayGrow ? 8 : 0), .init(title: "CHANGE", usualWidth: mayGrow ? 19 : 0),
            .init(title: "WHO", minimumWidth: 6, usualWidth: mayGrow ? 12 : 0),
            .init(title: "REASON", minimumWidth: 6, mayStandBelow: true),
        ]
        if !namingCircuits { columns.remove(at: 1) }
        var table = Table(columns: columns)
        for event in events { table.append(event, namingCircuits: namingCircuits) }
        return table
    }

    mutating func append(_ event: CircuitEvent, namingCircuits: Bool) {
        var row: [Cell] = [
            .init(text: event.at.readable), .init(text: event.circuit?.escaped ?? "(the store)"),
            .init(text: event.kind.rawValue.escaped), .init(text: event.change), .init(text: event.who),
            .init(text: event.reason?.escaped ?? ""),
        ]
        if !namingCircuits { row.remove(at: 1) }
        self.append(row)
    }
}

extension CircuitEvent {
    fileprivate var change: String {
        switch (self.from?.escaped, self.to?.escaped) {
        case (nil, nil): "-"
        case (let from?, let to?): from == to ? from : "\(from) -> \(to)"
        case (let one?, nil), (nil, let one?): one
        }
    }

    /// The person, or else the worker.
    fileprivate var who: String {
        if let by = self.by { return by.escaped }
        guard let worker = self.worker?.escaped else { return "-" }
        return self.pid.map { "\(worker)[\($0)]" } ?? worker
    }
}

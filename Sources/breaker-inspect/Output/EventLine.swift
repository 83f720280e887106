import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// An event as people see it: the two events of a failed probe are one line.
struct EventLine {
    let event: CircuitEvent
    /// How long the probe took that ended with this event, if its beginning is known.
    private var probeTime: Duration?

    init(_ event: CircuitEvent) { self.event = event }

    /// The most events that a number of lines can show: a failed probe is one line of two events.
    static func events(forLines lines: Int) -> Int { lines > Int.max / 2 ? .max : lines * 2 }

    /// Events in the order in which they happened, with those of a failed probe as one.
    static func all(_ events: [CircuitEvent]) -> [EventLine] {
        var shown: [EventLine?] = []
        // Few circuits are probed at a time; an array, because a dictionary takes memory: see `Environment`.
        var probing: [(circuit: String, place: Int)] = []
        for event in events {
            guard let circuit = event.circuit else {
                shown.append(EventLine(event))
                continue
            }
            let place = probing.firstIndex { $0.circuit.utf8.elementsEqual(circuit.utf8) }
            let begun = place.map { probing.remove(at: $0) }
            var one = EventLine(event)
            if event.kind == .reopened, let begun, let beginning = shown[begun.place]?.event,
                Self.areOfOneProbe(beginning, event)
            {
                one.probeTime = max(.zero, event.at.since(beginning.at))
                shown[begun.place] = nil
            }
            if event.kind == .probing { probing.append((circuit, shown.count)) }
            shown.append(one)
        }
        return shown.compactMap(\.self)
    }

    /// Whether the process that began to probe is the one whose probe failed.
    private static func areOfOneProbe(_ beginning: CircuitEvent, _ end: CircuitEvent) -> Bool {
        guard let worker = beginning.worker, worker == end.worker else { return false }
        // `admit` and `finish` are two processes.
        return beginning.pid == end.pid || worker == Tool.name
    }

    /// The event's kind: the word in the file, unless there is a better one for people.
    var what: String {
        switch self.event.kind {
        case .reopened: "probe failed"
        case .probeAllowed: "probe allowed"
        case .stateRestored: "state restored"
        case .probeExpired: "probe expired"
        case .proberDied: "prober died"
        default: self.event.kind.rawValue.escaped
        }
    }

    var change: String {
        let from = self.probeTime == nil ? self.event.from : self.event.to
        return switch (from?.escaped, self.event.to?.escaped) {
        case (nil, nil): "-"
        case (let from?, let to?): from == to ? from : "\(from) -> \(to)"
        case (let one?, nil), (nil, let one?): one
        }
    }

    /// The process that lost a probe's slot; of other events the operator, or else the worker; nobody if time did it.
    var who: String {
        self.event.isEndOfHoldByTime ? "-" : self.loser ?? self.event.by?.escaped ?? self.worker ?? "-"
    }

    /// The worker that committed the event.
    private var worker: String? {
        guard let worker = self.event.worker?.escaped else { return nil }
        return self.event.pid.map { "\(worker)[\($0)]" } ?? worker
    }

    /// The process that lost a probe's slot.
    ///
    /// Mostly another process commits the event, when it takes the slot.
    private var loser: String? {
        guard self.event.kind == .probeExpired || self.event.kind == .proberDied else { return nil }
        return self.event.subject?.escaped
    }

    var reason: String {
        let parts = [self.event.reason?.escaped, self.successor, self.endedHold]
        let reason = parts.compactMap(\.self).joined(separator: "; ")
        guard let time = self.probeTime else { return reason }
        return reason.isEmpty ? "after \(time.readable)" : "after \(time.readable): \(reason)"
    }

    /// The process that took the slot.
    private var successor: String? {
        // The tool itself commits late reports, too, and takes no slot then.
        guard let loser = self.loser, self.event.worker != Tool.name, let worker = self.worker, worker != loser
        else { return nil }
        return "\(worker) probes now"
    }

    /// The operator whose hold another operator has ended or replaced; nil for the operator's own hold.
    private var endedHold: String? {
        guard let whose = self.event.subject, let by = self.event.by, by != whose else { return nil }
        switch self.event.kind {
        case .reset, .released: return "ended \(whose.escaped)'s hold"
        case .held: return "replaced \(whose.escaped)'s hold"
        default: return nil
        }
    }
}

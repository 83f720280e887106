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
            if event.kind == .reopened, let begun, let beginning = shown[begun.place]?.event {
                one.probeTime = max(.zero, event.at.since(beginning.at))
                shown[begun.place] = nil
            }
            if event.kind == .probing { probing.append((circuit, shown.count)) }
            shown.append(one)
        }
        return shown.compactMap(\.self)
    }

    /// The event's kind: the word in the file, unless there is a better one for people.
    var what: String {
        switch self.event.kind {
        case .reopened: "probe failed"
        case .probeAllowed: "probe allowed"
        case .stateRestored: "state restored"
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

    /// The operator, or else the worker.
    var who: String {
        if let by = self.event.by { return by.escaped }
        guard let worker = self.event.worker?.escaped else { return "-" }
        return self.event.pid.map { "\(worker)[\($0)]" } ?? worker
    }

    var reason: String {
        let reason = [self.event.reason?.escaped, self.endedHold].compactMap(\.self).joined(separator: "; ")
        guard let time = self.probeTime else { return reason }
        return reason.isEmpty ? "after \(time.readable)" : "after \(time.readable): \(reason)"
    }

    /// The operator whose hold another operator has ended or replaced; nil for the operator's own hold.
    private var endedHold: String? {
        guard let whose = self.event.subject, let by = self.event.by, by != whose else { return nil }
        switch self.event.kind {
        case .reset: return "ended \(whose.escaped)'s hold"
        case .held: return "replaced \(whose.escaped)'s hold"
        default: return nil
        }
    }
}

/// The part of the history that a link has to know, taken over from the newest event to the oldest.
extension LinkedCircuit {
    private static let transitions: [CircuitEvent.Kind] = [.tripped, .reopened, .closed, .probing, .reset]

    /// Whether an event of this kind may have a place yet, now that all newer ones were taken.
    func lacks(_ kind: CircuitEvent.Kind) -> Bool {
        self.transition == nil && Self.transitions.contains(kind)
            || self.lacksTrip && kind == .tripped
    }

    /// Whether there is an outage whose beginning was not found.
    var lacksTrip: Bool {
        switch self.state {
        case .open, .halfOpen: self.trip == nil
        case .closed, .unknown: false
        }
    }

    /// Takes an event that `lacks` has asked for.
    mutating func take(_ event: Event) {
        var event = event
        event.by = event.by.map(LinkText.cut)
        if self.lacksTrip, event.kind == .tripped { self.trip = event }
        if self.transition == nil, Self.transitions.contains(event.kind) { self.transition = event }
    }

    mutating func forgetHistory() {
        self.transition = nil
        self.trip = nil
    }
}

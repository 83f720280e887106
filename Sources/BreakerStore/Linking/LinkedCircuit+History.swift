/// The part of the history that a link needs, taken over from the newest event to the oldest.
extension LinkedCircuit {
    private static let transitions: [CircuitEvent.Kind] = [.tripped, .reopened, .closed, .probing, .reset]

    /// Whether an event of this kind is still needed, after all newer events.
    func lacks(_ kind: CircuitEvent.Kind) -> Bool {
        self.transition == nil && Self.transitions.contains(kind)
            || self.lacksTrip && kind == .tripped
    }

    /// Whether an outage lasts whose trip was not found.
    var lacksTrip: Bool {
        switch self.state {
        case .open, .halfOpen: self.trip == nil
        case .closed, .unknown: false
        }
    }

    /// Takes an event for which `lacks` was true.
    mutating func take(_ event: Event) {
        var event = event
        event.by = event.by.map(LinkText.cut)
        if self.lacksTrip, event.kind == .tripped { self.trip = event }
        if self.transition == nil, Self.transitions.contains(event.kind) { self.transition = event }
    }
}

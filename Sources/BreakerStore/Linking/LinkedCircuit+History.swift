/// The part of the history that a link has to know, taken over from the newest event to the oldest.
extension LinkedCircuit {
    private static let mostOperations = 16

    private static let transitions: [CircuitEvent.Kind] = [.tripped, .reopened, .closed, .probing, .reset]
    private static let operations: [CircuitEvent.Kind] = [.reset, .held, .released, .probeAllowed]

    /// Whether an event of this kind may have a place yet, now that all newer ones were taken.
    func lacks(_ kind: CircuitEvent.Kind) -> Bool {
        self.transition == nil && Self.transitions.contains(kind)
            || self.operations.count < Self.mostOperations && Self.operations.contains(kind)
            || self.lacksTrip && kind == .tripped
    }

    /// Whether there is an outage whose beginning was not found.
    var lacksTrip: Bool {
        switch self.state {
        case .open, .halfOpen: self.trip == nil
        case .closed, .unknown: false
        }
    }

    /// Takes an event that `lacks` has asked for; the operations are in the order in which they were taken.
    mutating func take(_ event: Event) {
        var event = event
        let isOfItself = event.kind == .released && event.by == nil && event.reason == Circuit.endOfHold
        let isOfFleet = LinkOrder.isOfFleet(event.by)
        event.by = event.by.map(LinkText.cut)
        event.reason = event.reason.map(LinkText.cut)
        if self.lacksTrip, event.kind == .tripped { self.trip = event }
        if self.transition == nil, Self.transitions.contains(event.kind) { self.transition = event }
        if self.operations.count < Self.mostOperations, Self.operations.contains(event.kind), !isOfItself, !isOfFleet {
            self.operations.append(event)
        }
    }

    mutating func forgetHistory() {
        self.transition = nil
        self.trip = nil
        self.operations = []
    }
}

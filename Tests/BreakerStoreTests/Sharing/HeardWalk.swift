import BreakerStore

/// Follows each circuit through the events that a process has heard, along the table of the state machine.
struct HeardWalk {
    struct Place {
        /// As the history names it.
        var word = "closed"
        /// The state that goes on under a hold.
        var beneath = "closed"
        var isForgotten = false
    }

    private(set) var places: [String: Place] = [:]
    /// The steps that the table does not have.
    private(set) var faults: [String] = []

    init(_ history: [Heard]) {
        for (event, before) in zip(history, [nil] + history.map(Optional.some)) {
            if let before, event.id <= before.id || event.at < before.at {
                self.faults.append("\(event) after \(before)")
            }
            self.take(event)
        }
    }

    private mutating func take(_ event: Heard) {
        var place = self.places[event.circuit] ?? Place()
        place.isForgotten = false
        let isHold = place.word.hasPrefix("held-")
        let isLegal: Bool
        var next = place
        next.word = event.to
        switch event.kind {
        case .tripped: isLegal = place.word == "closed" && event.to == "open"
        case .probing: isLegal = place.word == "open" && event.to == "half-open"
        case .probeExpired, .proberDied: isLegal = place.word == "half-open" && event.to == "half-open"
        case .reopened: isLegal = place.word == "half-open" && event.to == "open"
        case .closed: isLegal = place.word == "half-open" && event.to == "closed"
        case .reset: isLegal = event.to == "closed"
        case .configured: isLegal = event.to == place.word
        case .held:
            isLegal = event.to == "held-open" || event.to == "held-closed"
            if !isHold { next.beneath = place.word == "half-open" ? "open" : place.word }
        case .released: isLegal = isHold && event.to == place.beneath
        case .probeAllowed: isLegal = place.word == "open" && event.to == "open"
        case .forgotten:
            isLegal = event.to.isEmpty
            next = Place(isForgotten: true)
        default: isLegal = false
        }
        if !isLegal || event.from != place.word { self.faults.append("\(event), from \(place)") }
        self.places[event.circuit] = next
    }
}

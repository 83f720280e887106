#if PostgreSQL
import BreakerStore

/// A host's history as a walk of the machine that links may order about: in periods, from one event to the next.
struct FleetWalk {
    enum Base: String {
        case closed, open
        case halfOpen = "half-open"
    }

    struct Period {
        var start: Int64
        var base: Base
        var hold: String?
        /// Whether the host tripped by itself: then it also probes by itself.
        var isOwnTrip = false

        var word: String { self.hold.map { "held-\($0)" } ?? self.base.rawValue }
    }

    private(set) var periods = [Period(start: .min, base: .closed)]
    private(set) var violations: [String] = []

    /// - Parameter events: those of the circuit, with times since this machine booted.
    init(_ events: [KillLoop.File.Event]) { for event in events { self.take(event) } }

    func period(at time: Int64) -> Period { self.periods.last { $0.start <= time } ?? self.periods[0] }

    private mutating func take(_ event: KillLoop.File.Event) {
        guard let before = self.periods.last else { return }
        let isOfFleet = LinkOrder.isOfFleet(event.by)
        let isOwn = event.by == nil
        let isOfPerson = !isOwn && !isOfFleet
        var next = before
        next.start = event.at
        var isLegal = event.was == before.word
        switch event.kind {
        case "tripped":
            isLegal = isLegal && before.base == .closed && (isOfFleet || isOwn && before.hold == nil)
            next.base = .open
            next.isOwnTrip = isOwn
        case "probing":
            isLegal = isLegal && before.base == .open && before.hold == nil && isOwn
            next.base = .halfOpen
        case "probeExpired": isLegal = isLegal && before.base == .halfOpen && isOwn
        case "reopened":
            let isProbes = isOwn && before.base == .halfOpen && before.hold == nil
            isLegal = isLegal && (isProbes || isOfFleet && before.base != .closed)
            next.base = .open
        case "closed":
            let isProbes = isOwn && before.base == .halfOpen && before.hold == nil
            isLegal = isLegal && (isProbes || isOfFleet && before.base != .closed && !before.isOwnTrip)
            next.base = .closed
        case "reset":
            isLegal = isLegal && !isOwn
            next.base = .closed
            // A hold that was said later stays over the reset of another host.
            if !isOfFleet || event.becomes != next.word { next.hold = nil }
        case "held":
            isLegal = isLegal && !isOwn
            next.hold = event.becomes?.split(separator: "-").last.map(String.init)
            if before.base == .halfOpen { next.base = .open }
        case "released":
            isLegal = isLegal && before.hold != nil && (!isOwn || event.reason == KillLoop.Oracle.timeIsOver)
            next.hold = nil
        case "probeAllowed": isLegal = isLegal && isOfPerson && before.base == .open && before.hold == nil
        default: isLegal = false
        }
        if !isLegal || event.becomes != next.word {
            self.violations.append("an illegal step from \(before.word): \(event)")
        }
        self.periods.append(next)
    }
}
#endif

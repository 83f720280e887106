/// The steps, and where they must lead.
extension LegalWalk {
    mutating func take(_ event: StoreFile.Event, seenFrom: Int64) {
        let before = self.last
        var next = before
        next.start = event.at
        next.isSeenFrom = seenFrom
        next.event = event
        next.isGone = false
        let isLegal = self.makeStep(event, from: before, to: &next)
        if next.base != before.base { next.since = event.at }
        let leadsThere = event.kind == "forgotten" ? event.becomes == nil : event.becomes == next.word
        if !isLegal || !leadsThere || event.was != before.word || event.at < before.start {
            let openUntil = before.openUntil.map { ", open until \($0)" } ?? ""
            self.violations.append("an illegal step from \(before.word)\(openUntil), since \(before.start): \(event)")
        }
        self.periods[self.periods.count - 1].end = event.at
        self.periods.append(next)
        self.count(event)
    }

    /// Changes what the event changes; returns whether it may come then.
    private mutating func makeStep(_ event: StoreFile.Event, from before: Period, to next: inout Period) -> Bool {
        let isOfFleet = self.isLinked && event.by.map { $0 == "fleet" || $0.hasPrefix("fleet: ") } ?? false
        let isOwn = event.by == nil
        let isFree = isOwn && before.hold == nil
        switch event.kind {
        case "tripped":
            self.open(&next, at: event.at, isOwn: isOwn)
            self.trips[before.counting] = event
            next.isOwnTrip = isOwn
            return before.base == .closed && (isOfFleet || isFree)
        case "probing":
            next.base = .halfOpen
            return before.base == .open && isFree && before.openUntil.map { event.at >= $0 } ?? true
        case "probeExpired":
            let lease = self.rules?.lease ?? 0
            return before.base == .halfOpen && isOwn && (before.since == .min || event.at - before.since >= lease)
        case "proberDied": return before.base == .halfOpen && isOwn
        case "reopened":
            self.open(&next, at: event.at, isOwn: isOwn)
            return before.base == .halfOpen && isFree || isOfFleet && before.base != .closed
        case "closed":
            self.close(&next)
            return before.base == .halfOpen && isFree || isOfFleet && before.base != .closed && !before.isOwnTrip
        case "reset":
            self.close(&next)
            // A hold that was said later stays over the reset of another host. All words of a fleet have a name.
            if !isOfFleet || event.becomes == next.base.rawValue { next.hold = nil }
            return !isOwn || !self.isLinked
        case "held":
            next.hold = event.becomes?.split(separator: "-").last.map(String.init)
            if before.base == .halfOpen { (next.base, next.openUntil) = (.open, self.isLinked ? nil : event.at) }
            return !isOwn || !self.isLinked
        case "released":
            next.hold = nil
            return before.hold != nil && (!isOwn || !self.isLinked || event.isEndOfHoldByTime)
        case "probeAllowed":
            next.openUntil = self.isLinked ? nil : event.at
            return before.base == .open && before.hold == nil && !isOfFleet
                && before.openUntil.map { event.at < $0 } ?? true
        case "stateRestored":
            // Of a lost file: a hold over what is there, or a state and perhaps a hold over a circuit that is new.
            next.hold = event.becomes.flatMap { $0.hasPrefix("held-") ? String($0.dropFirst("held-".count)) : nil }
            let wasOpen = event.reason.map { $0.hasPrefix("open, ") || $0.contains(", open, ") } ?? false
            // The same file without its log takes over the whole circuit.
            let reason = event.reason ?? ""
            let isWhole = reason.hasPrefix("closed, ") || reason.contains("as the log that was removed had it")
            if wasOpen {
                next.base = .open
            } else if isWhole || before.event?.kind == "stateRestored" {
                next.base = .closed
            }
            if next.base == .halfOpen { next.base = .open }
            (next.openUntil, next.tripsInARow, next.isOwnTrip) = (nil, nil, false)
            return isOwn
        case "configured": return true
        case "forgotten":
            next = Period(
                start: event.at, isSeenFrom: next.isSeenFrom, base: .closed, counting: before.counting + 1,
                isGone: true, event: event)
            return true
        default: return false
        }
    }

    private func open(_ next: inout Period, at time: Int64, isOwn: Bool) {
        next.base = .open
        next.openUntil = nil
        if isOwn, !self.isLinked, let rules = self.rules, let trips = next.tripsInARow {
            next.openUntil = time + rules.recovery(afterTrips: trips)
        }
        next.tripsInARow = next.tripsInARow.map { $0 + 1 }
    }

    private func close(_ next: inout Period) {
        next.base = .closed
        next.openUntil = nil
        next.tripsInARow = 0
        next.counting += 1
    }

    private mutating func count(_ event: StoreFile.Event) {
        switch event.kind {
        case "forgotten":
            (self.epochs, self.changes, self.kinds) = (nil, 0, [:])
            return
        case "probeExpired", "proberDied", "configured": break
        case "released" where event.isEndOfHoldByTime: break
        default:
            self.changes += 1
            if let epochs = self.epochs {
                let most = epochs.upperBound == .max ? .max : max(epochs.upperBound + 1, event.at)
                self.epochs = max(epochs.lowerBound + 1, event.at)...most
            } else {
                // The circuit began its first epoch when it was made, or above those of circuits that were forgotten.
                self.epochs = event.at...(self.isWhole ? max(event.at, self.epochFloor) + 1 : .max)
            }
        }
        self.kinds[event.kind, default: 0] += 1
    }

    // MARK: - The end

    /// What of a circuit's row is not what the history leads to.
    func faults(of row: StoreFile.Circuit?) -> [String] {
        let last = self.last
        guard let row else {
            return last.isGone || last.event == nil ? [] : ["there is no row, but the history ends with \(last)"]
        }
        // Of what happened before the kept events nothing is known.
        if !self.isWhole, last.event == nil { return [] }
        var faults: [String] = []
        let isDue = last.base != .open || last.openUntil == nil || row.openUntil == last.openUntil
        if row.state != last.base.rawValue || row.hold != last.hold || !isDue && !self.isLinked {
            faults.append("the history ends with \(last), the row is \(row)")
        }
        if let epochs = self.epochs, !self.isLinked, !epochs.contains(row.epoch) {
            faults.append("the history leads to epochs \(epochs), the row has \(row.epoch)")
        }
        guard self.isWhole else { return faults }
        if !self.isLinked, row.windowGeneration != 1 + self.changes {
            faults.append("the history has \(self.changes) changes, the row \(row.windowGeneration - 1)")
        }
        if row.kinds != self.kinds {
            faults.append("the history has \(self.kinds), the file counts \(row.kinds)")
        }
        return faults
    }
}

extension StoreFile.Event {
    /// Whether it is a release that no operator asked for.
    var isEndOfHoldByTime: Bool { self.kind == "released" && self.reason?.hasPrefix("its time is over") == true }
}

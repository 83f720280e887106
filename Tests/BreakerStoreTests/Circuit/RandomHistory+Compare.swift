@testable import BreakerStore

/// What is looked at after each step.
extension RandomHistory {
    mutating func compare(_ before: TestCircuit) throws {
        let now = StoreTime(self.now)
        switch (self.circuit.state, self.model.phase) {
        case (.closed, .closed): break
        case (.open(let until), .open):
            // Only the machine draws lots: within the model's bounds its word is taken.
            if before.state != self.circuit.state, self.circuit.rules.recovery.jitter > 0 {
                let bounds = self.model.due...self.model.latestDue(self.now)
                try self.require(bounds.contains(until.microseconds), "due at \(until), expected \(bounds)")
                self.model.due = until.microseconds
            }
            try self.require(until.microseconds == self.model.due, "due at \(until), expected \(self.model.due)")
        case (.halfOpen(let successes), .halfOpen):
            try self.require(successes == self.model.successes, "successes \(successes)")
            let failures = self.circuit.probeFailures
            try self.require(failures == self.model.probeFailures, "failed probes \(failures)")
        case (.closed, _), (.open, _), (.halfOpen, _), (.unknown, _):
            try self.require(false, "state \(self.circuit.state), expected \(self.model.phase)")
        }
        try self.require(self.circuit.epoch == self.model.epoch, "epoch, expected \(self.model.epoch)")
        try self.require(self.circuit.epoch >= before.epoch, "the epoch fell")
        try self.require(self.circuit.tripsInARow == self.model.trips, "trips, expected \(self.model.trips)")
        let count = self.circuit.failureCount(at: now)
        try self.require(count == self.model.count(self.now), "count \(count), expected \(self.model.count(self.now))")
        let hold = self.circuit.hold(at: now)
        try self.require(hold?.state == self.model.held, "hold")
        try self.require(hold?.until?.microseconds == self.model.heldUntil, "hold's end")
        let slots = self.circuit.probes.filter { now < $0.leaseEnds && self.isAlive($0.worker) }
        try self.require(slots.map(\.token) == self.model.slots.map(\.token), "slots, expected \(self.model.slots)")
        let answer = self.circuit.answer(at: now, isAlive: self.isAlive)
        let expected: Circuit.Answer =
            switch self.model.leave(self.now) {
            case nil: .claim
            case .counted, .probe: .proceed
            case .uncounted: .uncounted
            case .refused(let cause, let until): .refuse(cause, until: until.map { StoreTime($0) })
            }
        try self.require(answer == expected, "answer \(answer), expected \(expected)")
        try self.checkTheHistory(before)
    }

    /// Every change of the state is told, joins the one before, and is one that the design knows.
    private mutating func checkTheHistory(_ before: TestCircuit) throws {
        var word = before.word
        for transition in self.circuit.transitions {
            self.seen[transition.kind, default: 0] += 1
            let (from, to) = (transition.from ?? "", transition.to ?? "")
            try self.require(from == word, "history: \(transition) after \(word)")
            word = to
            let isLegal =
                switch transition.kind {
                case .tripped: (from, to) == ("closed", "open")
                case .probing: (from, to) == ("open", "half-open")
                case .reopened: (from, to) == ("half-open", "open")
                case .closed: (from, to) == ("half-open", "closed")
                case .reset: to == "closed"
                case .held: to.hasPrefix("held-")
                case .probeAllowed: (from, to) == ("open", "open")
                case .released: from.hasPrefix("held-") && (to == "closed" || to == "open")
                case .probeExpired, .proberDied: (from, to) == ("half-open", "half-open")
                case .configured: from == to
                default: false
                }
            try self.require(isLegal, "history: \(transition)")
        }
        try self.require(word == self.circuit.word, "history ends with \(word)")
        let isOver = before.hold != nil && before.hold(at: StoreTime(self.now)) == nil
        let raises = self.circuit.transitions.enumerated().contains { index, transition in
            raisesTheEpoch(transition.kind) && !(index == 0 && isOver && transition.kind == .released)
        }
        try self.require(raises == (self.circuit.epoch > before.epoch), "epoch and history disagree")
    }
}

#if PostgreSQL
import BreakerStore

/// A copy of the file's circuits, which a link refreshes when the file has changed.
///
/// Reading takes at most a tenth of the link's time.
struct LinkedFile {
    /// How often a whole read is due: one that reads all of the history, which costs more than all else.
    private static let wholeReadInterval: Int64 = 10_000_000

    private(set) var circuits = ByName<LinkedCircuit>()
    /// The file's incarnation; nil before the first read.
    private(set) var number: Int64?

    private let store: CircuitStore
    private let pattern: String
    /// The file's change mark from before the last read; nil if the next refresh must read.
    private var mark: LinkMark?
    private var newestEvent: Int64 = 0
    /// The time to which the ages in `circuits` apply.
    private var readAt: Int64 = 0
    /// The time of the last whole read.
    private(set) var wholeAt: Int64 = .min
    /// Before this time a refresh reads only if it is forced.
    private var nextRead: Int64 = 0

    init(_ store: CircuitStore, matching pattern: String) {
        self.store = store
        self.pattern = pattern
    }

    /// Forgets all circuits, which would be out of date; the next read is a whole one.
    mutating func forget() {
        self.circuits = ByName()
        self.mark = nil
        self.wholeAt = .min
    }

    /// Whether the file was read a short time ago.
    func isFresh(at now: Int64) -> Bool { now.subtractingSaturating(self.readAt) < 2_500_000 }

    /// Makes the next refresh read the file, even if no process has committed since.
    mutating func setNeedsRead() { self.mark = nil }

    /// Reads the file if it has changed, and returns the circuits that have changed; nil if it was not or could not be
    /// read.
    ///
    /// - Parameter isForced: whether to read even without a commit, because a refused call commits nothing.
    mutating func refresh(isForced: Bool, at now: Int64) -> Names? {
        let mark = self.store.changeMark()
        guard isForced || now >= self.nextRead && (mark == nil || mark != self.mark) else { return nil }
        let start = ContinuousClock.now
        guard let found = self.read(at: now) else { return nil }
        self.mark = mark
        self.nextRead = now.addingSaturating(start.duration(to: .now).saturatingMicroseconds * 10)
        let before = self.circuits
        self.circuits = found
        return Names(found.keys.filter { found[$0].map { !$0.isSame(as: before[$0.name]) } ?? false })
    }

    /// The circuit at `now`, with ages that include the time since the last read.
    func circuit(_ name: String, at now: Int64) -> LinkedCircuit? {
        self.circuits[name]?.later(by: now.subtractingSaturating(self.readAt))
    }

    /// Reads a circuit again after an order; false if the circuit is gone, or can't be read just now.
    mutating func refreshCircuit(_ name: String, at now: Int64) -> Bool {
        let found = try? self.store.linkedCircuits(matching: CircuitSelector.pattern(matchingOnly: name)).first
        // Made younger by the time since `readAt`, to which the ages of all circuits apply.
        self.circuits[name] = found?.later(by: self.readAt.subtractingSaturating(now))
        self.setNeedsRead()
        return found != nil
    }

    private mutating func read(at now: Int64) -> ByName<LinkedCircuit>? {
        let isWhole = now.subtractingSaturating(self.wholeAt) >= Self.wholeReadInterval
        let passed = max(0, now.subtractingSaturating(self.readAt))
        guard
            let found = try? self.store.linkedCircuits(
                matching: self.pattern, eventsAfter: isWhole ? 0 : self.newestEvent)
        else { return nil }
        var circuits = ByName(found.circuits, key: \.name)
        if !isWhole {
            // Another file has taken the store's place, or a circuit is new and its history was never read.
            if found.newestEvent < self.newestEvent || circuits.keys.contains(where: { self.circuits[$0] == nil }) {
                self.wholeAt = .min
                return self.read(at: now)
            }
            for (name, before) in self.circuits { circuits[name]?.keepTransition(of: before, passed: passed) }
        } else {
            self.wholeAt = now
        }
        self.newestEvent = found.newestEvent
        self.number = found.file
        self.readAt = now
        return circuits
    }
}

extension LinkedCircuit {
    /// The same circuit at a later time, with all ages greater by the time that has passed.
    fileprivate func later(by passed: Int64) -> LinkedCircuit {
        func older(_ event: Event) -> Event {
            var event = event
            event.age = event.age.addingSaturating(passed)
            return event
        }
        var later = self
        later.transition = self.transition.map(older)
        later.trip = self.trip.map(older)
        later.commands = self.commands.map { $0.later(by: passed) }
        later.failures = self.failures.map { Failure(key: $0.key, age: $0.age.addingSaturating(passed)) }
        return later
    }

    /// Keeps the transition of an earlier read, if this read found none.
    fileprivate mutating func keepTransition(of before: LinkedCircuit, passed: Int64) {
        let before = before.later(by: passed)
        self.transition = self.transition ?? before.transition
    }

    /// Whether an earlier read found the same, apart from the time that has passed.
    fileprivate func isSame(as before: LinkedCircuit?) -> Bool {
        guard let before else { return false }
        return before.epoch == self.epoch && before.state.isSame(as: self.state) && before.refusals == self.refusals
            && before.failures.map(\.key) == self.failures.map(\.key) && before.failed == self.failed
            && before.slow == self.slow && before.commands.map(\.stamp) == self.commands.map(\.stamp)
            && before.commands.map(\.number) == self.commands.map(\.number)
    }
}

extension LinkedCircuit.State {
    fileprivate func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.open(let left), .open(let others)): (left > 0) == (others > 0)
        case (.closed, _), (.open, _), (.halfOpen, _), (.unknown, _): self == other
        }
    }
}
#endif

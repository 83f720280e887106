#if PostgreSQL
import BreakerStore

/// A file as a link sees it: read when it has changed, and for at most a tenth of the time.
struct LookedFile {
    /// How often a look reads all of the history, which costs more than all else, without a special reason to.
    private static let wholeTime: Int64 = 10_000_000

    private(set) var circuits = ByName<LinkedCircuit>()
    /// The file's own number; nil before the first look.
    private(set) var number: Int64?

    private let store: CircuitStore
    private let pattern: String
    /// The file's change mark at the last look.
    private var mark: LinkMark?
    private var newestEvent: Int64 = 0
    /// From this time on the ages in `circuits` count.
    private var lookedAt: Int64 = 0
    /// When a look last read all of the history.
    private(set) var wholeAt: Int64 = .min
    /// Before this time a link looks only if it must.
    private var next: Int64 = 0

    init(_ store: CircuitStore, matching pattern: String) {
        self.store = store
        self.pattern = pattern
    }

    /// Forgets all circuits, which grow old; the next look reads all.
    mutating func forget() {
        self.circuits = ByName()
        self.mark = nil
        self.wholeAt = .min
    }

    /// Whether the file was read a short time ago.
    func isFresh(at now: Int64) -> Bool { now.subtractingSaturating(self.lookedAt) < 2_500_000 }

    /// Makes the next look read the file, even if no process has committed anything.
    mutating func doubt() { self.mark = nil }

    /// Returns the circuits that have changed; nil if the link did not look, or the file can't be read just now.
    ///
    /// - Parameter isForced: whether to look without a commit, because a refused call makes none.
    mutating func look(isForced: Bool, at now: Int64) -> Names? {
        let mark = self.store.changeMark()
        guard isForced || now >= self.next && (mark == nil || mark != self.mark) else { return nil }
        let start = ContinuousClock.now
        guard let found = self.read(at: now) else { return nil }
        self.mark = mark
        self.next = now.addingSaturating(start.duration(to: .now).saturatingMicroseconds * 10)
        let before = self.circuits
        self.circuits = found
        return Names(found.keys.filter { found[$0].map { !$0.isSame(as: before[$0.name]) } ?? false })
    }

    /// The circuit at `now`: its ages have grown since the last look.
    func circuit(_ name: String, at now: Int64) -> LinkedCircuit? {
        self.circuits[name]?.later(by: now.subtractingSaturating(self.lookedAt))
    }

    /// Looks at a circuit again after an order; false if the circuit is gone, or can't be read just now.
    mutating func lookAgain(at name: String, at now: Int64) -> Bool {
        let found = try? self.store.linkedCircuits(matching: CircuitSelector.pattern(matchingOnly: name)).first
        // The ages of all circuits count from the same look.
        self.circuits[name] = found?.later(by: self.lookedAt.subtractingSaturating(now))
        self.doubt()
        return found != nil
    }

    private mutating func read(at now: Int64) -> ByName<LinkedCircuit>? {
        let isWhole = now.subtractingSaturating(self.wholeAt) >= Self.wholeTime
        let passed = max(0, now.subtractingSaturating(self.lookedAt))
        guard
            let found = try? self.store.linkedCircuits(
                matching: self.pattern, eventsAfter: isWhole ? 0 : self.newestEvent)
        else { return nil }
        var circuits = ByName(found.circuits, key: \.name)
        if !isWhole {
            // Another file has taken the place, or no look has read the history of some circuit yet.
            if found.newestEvent < self.newestEvent || circuits.keys.contains(where: { self.circuits[$0] == nil }) {
                self.wholeAt = .min
                return self.read(at: now)
            }
            for (name, before) in self.circuits { circuits[name]?.take(historyOf: before, passed: passed) }
        } else {
            self.wholeAt = now
        }
        self.newestEvent = found.newestEvent
        self.number = found.file
        self.lookedAt = now
        return circuits
    }
}

extension LinkedCircuit {
    /// The same circuit at a later time, by which all ages have grown.
    fileprivate func later(by passed: Int64) -> LinkedCircuit {
        func older(_ event: Event) -> Event {
            var event = event
            event.age = event.age.addingSaturating(passed)
            return event
        }
        var later = self
        later.transition = self.transition.map(older)
        later.trip = self.trip.map(older)
        later.words = self.words.map { $0.later(by: passed) }
        later.failures = self.failures.map { Failure(key: $0.key, age: $0.age.addingSaturating(passed)) }
        return later
    }

    /// Takes over what only an earlier look has read of the history.
    fileprivate mutating func take(historyOf before: LinkedCircuit, passed: Int64) {
        let before = before.later(by: passed)
        self.transition = self.transition ?? before.transition
    }

    /// Whether an earlier look found the same, apart from the time that has passed.
    fileprivate func isSame(as before: LinkedCircuit?) -> Bool {
        guard let before else { return false }
        return before.epoch == self.epoch && before.state.isSame(as: self.state) && before.refusals == self.refusals
            && before.failures.map(\.key) == self.failures.map(\.key) && before.failed == self.failed
            && before.slow == self.slow && before.words.map(\.stamp) == self.words.map(\.stamp)
            && before.words.map(\.number) == self.words.map(\.number)
    }
}

extension LinkedCircuit.State {
    fileprivate func isSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.open(let left), .open(let others)): (left > 0) == (others > 0)
        default: self == other
        }
    }
}
#endif

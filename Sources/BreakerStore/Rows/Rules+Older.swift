/// What programs of schema 1.0 are told of rules that they do not know.
///
/// They obey what they can: open states and holds. What they lack stands in columns that they never read.
extension Rules {
    /// No circuit that programs of schema 1.0 guard ever has so many failures.
    static let failuresOfStandIn = 1_000_000

    /// The rules in the columns of schema 1.0: in place of a rule that is new there, and of one that only observes, one
    /// of the same kind that is never met.
    var older: Rules {
        var older = self
        switch self.trip {
        case .failures(_, let window) where self.isObserving:
            older.trip = .failures(Self.failuresOfStandIn, window: window)
        case .consecutiveFailures where self.isObserving:
            older.trip = .consecutiveFailures(Self.failuresOfStandIn)
        case .failureRate:
            older.trip = .failures(Self.failuresOfStandIn, window: 1)
        case .failures, .consecutiveFailures, .unknown:
            break
        }
        older.slow = nil
        older.isObserving = false
        return older
    }

    /// Whether anything of the rules is new since schema 1.0.
    var isNewer: Bool {
        if case .failureRate = self.trip { return true }
        return self.slow != nil || self.isObserving
    }

    /// Tells rules of schema 1.0, with the label, from others: where a program of that schema has registered a config
    /// of its own, what newer programs know of the config before says nothing.
    func fingerprint(label: String?) -> Int64 {
        var hash = Fingerprint()
        hash.add(label ?? "")
        hash.add(label == nil ? 0 : 1)
        hash.add(self.trip.word)
        for number in [
            self.trip.count, self.trip.window, self.recovery, self.cap, self.lease, Int64(self.probeLimit),
            Int64(self.successesToClose), Int64(self.minimumReporters),
            Int64(bitPattern: self.multiplier.bitPattern), Int64(bitPattern: self.jitter.bitPattern),
        ] { hash.add(number) }
        // A column holds numbers with a sign: the highest bit stays clear.
        return Int64(hash.value >> 1)
    }
}

extension Fingerprint {
    /// The length stands before the text, so that no two texts run into each other.
    fileprivate mutating func add(_ text: String) {
        self.add(Int64(text.utf8.count))
        self.add(bytesOf: text)
    }
}

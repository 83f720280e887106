import Synchronization

/// How often the circuits have refused since the file was last told.
///
/// Nothing depends on the number. So a refusal costs no write, and a killed process loses the refusals that it had not
/// told yet.
final class Refusals: Sendable {
    /// The count of one circuit, of all its handles in this process.
    final class Counter: Sendable {
        private let count = Atomic<Int64>(0)

        func add(_ refusals: Int64 = 1) { self.count.wrappingAdd(refusals, ordering: .relaxed) }

        /// Whether the file knows of all refusals.
        var isTold: Bool { self.count.load(ordering: .relaxed) == 0 }

        fileprivate func take() -> Int64 { self.count.exchange(0, ordering: .relaxed) }
    }

    /// Microseconds between two tellings.
    private static let interval: Int64 = 5_000_000

    private let counters = Mutex<[CircuitName: Counter]>([:])
    private let lastTold = Atomic<Int64>(.min)

    func counter(of name: CircuitName) -> Counter {
        self.counters.withLock { counters in
            if let known = counters[name] { return known }
            let counter = Counter()
            counters[name] = counter
            return counter
        }
    }

    /// Drops the count of a circuit that no handle of this process uses; false if a handle uses it.
    func dropIfUnused(_ name: CircuitName) -> Bool {
        self.counters.withLock { counters in
            guard var counter = counters.removeValue(forKey: name) else { return true }
            if isKnownUniquelyReferenced(&counter) { return true }
            counters[name] = counter
            return false
        }
    }

    /// Whether it is time to tell the file again.
    func isDue(at uptime: Int64) -> Bool {
        uptime.subtractingSaturating(self.lastTold.load(ordering: .relaxed)) >= Self.interval
    }

    /// What is to be told now, circuit by circuit.
    func take(at uptime: Int64) -> [CircuitName: Int64] {
        self.lastTold.store(uptime, ordering: .relaxed)
        var taken: [CircuitName: Int64] = [:]
        for (name, counter) in self.counters.withLock({ $0 }) {
            let count = counter.take()
            if count > 0 { taken[name] = count }
        }
        return taken
    }

    /// Takes back counts that the file could not be told.
    func putBack(_ taken: [CircuitName: Int64]) {
        for (name, count) in taken { self.counter(of: name).add(count) }
    }
}

extension Database {
    /// Adds to the circuits' refusals; circuits that are gone are left out.
    func add(refusals: [CircuitName: Int64]) throws(BreakerStoreError) {
        for (name, count) in refusals {
            // Above the greatest integer SQLite would go on with a floating-point number.
            try self.run(
                "UPDATE OR IGNORE circuit SET refusals = min(refusals + ?2, 9223372036854775807) WHERE name = ?1",
                .text(name.text), .integer(count)
            )
        }
    }
}

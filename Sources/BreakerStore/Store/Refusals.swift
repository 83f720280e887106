import Synchronization

/// How often the circuits have refused since the file was last told.
///
/// Nothing depends on the number. So a refusal costs no write, and a killed process loses the refusals that it had not
/// told yet.
final class Refusals: Sendable {
    /// The count of one circuit, of all its handles in this process.
    final class Counter: Sendable {
        private let count = Atomic<Int64>(0)
        /// How many stores count here; changed under the lock of the counters.
        fileprivate let users = Atomic<Int>(0)

        func add(_ refusals: Int64 = 1) { self.count.wrappingAdd(refusals, ordering: .relaxed) }

        /// Whether the file knows of all refusals.
        var isTold: Bool { self.count.load(ordering: .relaxed) == 0 }

        fileprivate func take() -> Int64 { self.count.exchange(0, ordering: .relaxed) }
    }

    /// Microseconds between two tellings.
    private static let interval: Int64 = 5_000_000

    private let counters = Mutex<[CircuitName: Counter]>([:])
    private let lastTold = Atomic<Int64>(.min)

    /// The counter for a circuit of one more store.
    func counter(of name: CircuitName) -> Counter {
        self.counters.withLock { counters in
            let counter = counters[name] ?? Counter()
            counter.users.wrappingAdd(1, ordering: .relaxed)
            counters[name] = counter
            return counter
        }
    }

    /// A store has let go of the circuit; returns whether it was the last one.
    func letGo(of name: CircuitName) -> Bool {
        self.counters.withLock { counters in
            guard let counter = counters[name] else { return true }
            guard counter.users.wrappingSubtract(1, ordering: .relaxed).newValue <= 0 else { return false }
            counters[name] = nil
            return true
        }
    }

    /// Whether a store of this process uses the circuit.
    func isUsed(_ name: CircuitName) -> Bool { self.counters.withLock { $0[name] != nil } }

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

    /// Takes back counts that the file could not be told, but for circuits that nobody uses any longer.
    func putBack(_ taken: [CircuitName: Int64]) {
        self.counters.withLock { counters in for (name, count) in taken { counters[name]?.add(count) } }
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

/// The failures of one circuit as an array, oldest first: for the in-memory fallback.
struct FailureList: Hashable, Sendable, KnownFailures {
    private(set) var failures: [Circuit.Failure] = []
    /// The instant from which failures count; nil if all failures count.
    private var start: StoreTime?

    init(_ failures: [Circuit.Failure] = []) { self.failures = failures }

    /// Counts the failures that count for a circuit at `now`.
    ///
    /// From then on `newestOfEachWorker` and `oldest` are about these; `contains` is about all.
    mutating func recount(for circuit: Circuit, at now: StoreTime) -> FailureCount {
        self.start = circuit.startOfCounting(at: now)
        let counting = self.counting
        return FailureCount(
            count: counting.count,
            oldest: counting.first?.at,
            hasExpired: counting.count < self.failures.count
        )
    }

    mutating func apply(_ change: FailureChange) {
        switch change {
        case .insert(let failure):
            // Reports arrive nearly in order, so the search begins at the end.
            let index = self.failures.lastIndex { $0 < failure }
            self.failures.insert(failure, at: index.map { $0 + 1 } ?? 0)
        case .drop(let failure): self.failures.removeAll { $0 == failure }
        case .dropBefore(let start): self.failures.removeAll { $0.at < start }
        case .dropAll: self.failures.removeAll()
        }
    }

    func contains(worker: WorkerID, sequence: Int64) -> Bool {
        self.failures.contains { $0.worker == worker && $0.sequence == sequence }
    }

    func newestOfEachWorker() -> [Circuit.Failure] {
        var newest: [WorkerID: Circuit.Failure] = [:]
        for failure in self.counting { newest[failure.worker] = failure }
        return Array(newest.values)
    }

    func oldest(_ count: Int) -> [Circuit.Failure] { Array(self.counting.prefix(max(0, count))) }

    private var counting: ArraySlice<Circuit.Failure> {
        guard let start = self.start else { return self.failures[...] }
        return self.failures.drop { $0.at < start }
    }
}

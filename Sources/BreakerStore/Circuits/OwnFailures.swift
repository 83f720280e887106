/// The failures that this process has reported to the file in one epoch of a circuit: the in-memory fallback begins
/// with them.
struct OwnFailures: Sendable {
    private static let maxKept = 1_000

    private var epoch: Epoch = 0
    private var failures: [Circuit.Failure] = []

    /// - Parameter threshold: the number of failures that trips the circuit. As many of the newest are kept, `maxKept`
    ///   at most; until the older ones are removed, all at once, up to twice as many.
    mutating func add(_ failure: Circuit.Failure, inEpoch epoch: Epoch, threshold: Int) {
        guard epoch >= self.epoch else { return }
        if epoch > self.epoch { (self.epoch, self.failures) = (epoch, []) }
        let kept = min(max(1, threshold), Self.maxKept)
        if self.failures.count >= 2 * kept { self.failures.removeFirst(self.failures.count - kept + 1) }
        self.failures.append(failure)
    }

    /// The failures of this epoch, oldest first, that no success has forgotten.
    func failures(inEpoch epoch: Epoch, after forgotten: StoreTime?) -> [Circuit.Failure] {
        guard epoch == self.epoch else { return [] }
        return self.failures.filter { failure in forgotten.map { failure.at > $0 } ?? true }.sorted()
    }
}

/// The failures that this process has reported to the file in one epoch of a circuit: memory begins with them.
struct OwnFailures: Sendable {
    /// At this number the older half is dropped.
    private static let most = 1_000

    private var epoch: Int64 = 0
    private var failures: [Circuit.Failure] = []

    mutating func add(_ failure: Circuit.Failure, inEpoch epoch: Int64) {
        guard epoch >= self.epoch else { return }
        if epoch > self.epoch { (self.epoch, self.failures) = (epoch, []) }
        if self.failures.count >= Self.most { self.failures.removeFirst(Self.most / 2) }
        self.failures.append(failure)
    }

    /// The failures of this epoch, oldest first, that no success has forgotten.
    func failures(inEpoch epoch: Int64, after forgotten: StoreTime?) -> [Circuit.Failure] {
        guard epoch == self.epoch else { return [] }
        return self.failures.filter { failure in forgotten.map { failure.at > $0 } ?? true }.sorted()
    }
}

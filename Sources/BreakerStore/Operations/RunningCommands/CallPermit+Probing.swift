/// The slot of a probe that takes longer than its lease.
extension CallPermit {
    /// Whether the permit is a probe's slot in the file.
    package var isProbe: Bool { self.admission.source == .probe }

    /// Extends the lease of the probe's slot; commits on the calling thread.
    ///
    /// - Returns: the lease, by whose half the next renewal is due; nil if the slot is gone, or was none.
    package func renew() throws(BreakerStoreError) -> Duration? {
        guard self.isProbe else { return nil }
        return try self.breaker.renewProbe(token: self.admission.token, epoch: self.admission.epoch)
    }
}

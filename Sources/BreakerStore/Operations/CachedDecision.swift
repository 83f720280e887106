import Synchronization

/// A cached decision, for test programs that compare it with the reports that the store has acknowledged.
///
/// `@testable` would give them the same, but not in a release build.
package struct CachedDecision: Sendable {
    /// The name of the decision's kind.
    package let verdict: String
    package let epoch: Epoch
}

extension CircuitBreaker {
    /// The decision that calls get without a read of the file; nil if there is none, or it is out of date.
    package var cachedDecision: CachedDecision? {
        let decision = self.circuit.cache.read(self.store.gate)
        return decision.kind == .unknown ? nil : CachedDecision(verdict: "\(decision.kind)", epoch: decision.epoch)
    }

    /// Whether the cached decision admits a call; throws the refusal if it refuses one.
    package var isAdmittedByCache: Bool {
        get throws(CircuitOpenError) { try self.admitByCachedDecision() != nil }
    }

    /// The circuit's epoch in the file; nil if the file has no such circuit.
    package var storedEpoch: Epoch? {
        get throws(BreakerStoreError) { try self.core.readDecision(self.readContext)?.epoch }
    }
}

extension CircuitStore {
    /// Degrades the store, as after an error of the file, until the store's thread has tried the file again.
    package func pretendLoss() {
        guard let core = try? self.usableCore() else { return }
        core.lose(BreakerStoreError(code: .unavailable, message: "made up"))
    }

    /// Whether the store's paths lead to the files that the store has open.
    package var isInPlace: Bool { (try? self.usableCore())?.answers.isInPlace ?? false }
}

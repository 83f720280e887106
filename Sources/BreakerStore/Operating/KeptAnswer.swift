import Synchronization

/// A kept answer, for test programs that compare kept answers with the reports that the store has acknowledged.
///
/// `@testable` would expose the same, but no release build allows it.
package struct KeptAnswer: Sendable {
    /// The word for the answer that a call gets without asking the file.
    package let verdict: String
    package let epoch: Int64
}

extension CircuitBreaker {
    /// The answer that calls get without asking the file; nil if there is none, or it does not count.
    package var keptAnswer: KeptAnswer? {
        let answer = self.circuit.slot.ask(self.store.gate)
        return answer.kind == .unknown ? nil : KeptAnswer(verdict: "\(answer.kind)", epoch: answer.epoch)
    }

    /// Throws the refusal if the kept answer is one.
    package var isAdmittedByCache: Bool {
        get throws(CircuitOpenError) { try self.admitByCachedDecision() != nil }
    }

    /// The circuit's epoch in the file; nil if the file has no such circuit.
    package var storedEpoch: Int64? {
        get throws(BreakerStoreError) { try self.core.look(self.asker)?.epoch }
    }
}

extension CircuitStore {
    /// Makes memory guard, as after an error of the file, until the store's thread has tried the file again.
    package func pretendLoss() {
        guard let core = try? self.usableCore() else { return }
        core.lose(BreakerStoreError(code: .unavailable, message: "made up"))
    }

    /// Whether the store's paths lead to the files that the store has open.
    package var isInPlace: Bool { (try? self.usableCore())?.answers.isInPlace ?? false }
}

import Synchronization

/// The shares of calls that this process suspects to be reached, until all processes have published the good calls that
/// they had then.
///
/// Kept in this process's memory alone: a kill leaves nothing behind. Another process that counts a failing call, or
/// looks at the window, suspects the same.
final class Suspicions: Sendable {
    /// A circuit of whose calls a share may be reached, and what counts them.
    struct Suspect: Sendable {
        let circuit: SharedCircuit
        let counter: CircuitCounter
        let rules: Rules
        let epoch: Int64
        /// What the policy says of the last failure.
        var error: String?
    }

    struct Suspicion: Sendable {
        let suspect: Suspect
        let share: SuspectedShare
        /// When all processes have published.
        let end: ContinuousClock.Instant
    }

    private let all = Mutex<[CircuitName: Suspicion]>([:], rank: .leaf)

    func begin(_ suspicion: Suspicion) {
        self.all.withLock { $0[suspicion.suspect.circuit.key] = suspicion }
    }

    /// Whether a share of this circuit's calls is suspected in this epoch.
    func isSuspected(_ circuit: SharedCircuit, in epoch: Int64) -> Bool {
        self.all.withLock { $0[circuit.key]?.suspect.epoch == epoch }
    }

    /// When the first of them ends.
    var firstEnd: ContinuousClock.Instant? {
        self.all.withLock { $0.values.map(\.end).min() }
    }

    /// Takes those that have ended.
    func takeEnded(at now: ContinuousClock.Instant) -> [Suspicion] {
        self.all.withLock { all in
            let ended = all.values.filter { $0.end <= now }
            for suspicion in ended { all[suspicion.suspect.circuit.key] = nil }
            return ended
        }
    }
}

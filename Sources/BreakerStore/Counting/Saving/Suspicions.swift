import Synchronization

/// A share that the calls on the board reach, while other processes may have unpublished good calls.
///
/// The good calls that decide are never too few. The board's number of all good calls is read before the windows are
/// summed, and it only rises: a good call that is published meanwhile is in the window, in the rise since, or in both.
struct Suspicion: Sendable {
    let circuit: SharedCircuit
    let cells: CircuitCells
    let rules: Rules
    let epoch: Int64
    /// The policy's text of the last failure.
    let error: String?
    /// The calls in the windows when the suspicion began.
    let calls: Circuit.WindowCounts
    /// All good calls that the board had before the windows were summed, as each rule sees them.
    let goodBefore: [WindowSubject: Int64]
    /// When all processes should have published: two periods after the beginning.
    let end: ContinuousClock.Instant

    /// The bad calls of `calls`, among the good calls of `calls` and those since; none if the board is lost.
    var counted: Circuit.WindowCounts {
        let counted = self.calls.with(good: self.cells.goodEver, since: self.goodBefore)
        // Asked after the numbers are read: a lost board gives zeros.
        return self.cells.isLost ? Circuit.WindowCounts() : counted
    }
}

extension Circuit.WindowCounts {
    /// The same bad calls, among the same good calls and those that have come since.
    func with(good: [WindowSubject: Int64], since before: [WindowSubject: Int64]) -> Circuit.WindowCounts {
        var counted = self
        for (subject, before) in before {
            // Any program may have written any numbers to the board.
            let since = max(0, (good[subject] ?? 0).subtractingSaturating(before))
            counted[subject] = self[subject].map {
                WindowCount(calls: $0.calls.addingSaturating(since), bad: $0.bad)
            }
        }
        return counted
    }
}

/// The suspicions of this process; each lasts until all processes have published the good calls that they had at its
/// beginning.
///
/// They are in this process's memory alone: a kill leaves nothing behind. Another process that counts a failing call,
/// or looks at the window, suspects the same share.
final class Suspicions: Sendable {
    private let all = Mutex<[CircuitName: Suspicion]>([:], rank: .leaf)

    func begin(_ suspicion: Suspicion) { self.all.withLock { $0[suspicion.circuit.key] = suspicion } }

    /// Whether a share of this circuit's calls is suspected in this epoch.
    func isSuspected(_ circuit: SharedCircuit, in epoch: Int64) -> Bool {
        self.all.withLock { $0[circuit.key]?.epoch == epoch }
    }

    /// When the first suspicion ends.
    var firstEnd: ContinuousClock.Instant? { self.all.withLock { $0.values.map(\.end).min() } }

    /// Takes the suspicions that have ended.
    func takeEnded(at now: ContinuousClock.Instant) -> [Suspicion] {
        self.all.withLock { all in
            let ended = all.values.filter { $0.end <= now }
            for suspicion in ended { all[suspicion.circuit.key] = nil }
            return ended
        }
    }
}

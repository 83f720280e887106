/// How a call ended, as the policy judges it.
struct Ending: Sendable {
    var verdict: Verdict
    /// The text to store for a failure without an error; for an error the policy makes the text.
    var text: String?
    /// The error that the caller, or a fallback, gets to know; nil for a success, and for a value that is a failure
    /// without being an error.
    var error: (any Error)?
    /// How many microseconds the operation took; nil where nobody asked.
    var duration: Int64?

    static let success = Ending(verdict: .success)
    static let ignored = Ending(verdict: .ignored)

    /// The same, with the time that the operation took.
    func taking(_ duration: Int64?) -> Ending {
        guard let duration else { return self }
        var ending = self
        ending.duration = duration
        return ending
    }
}

/// What is to be done at the end of a call.
///
/// Decided once, and carried out by a synchronous caller, by a task, or later by the store's threads.
struct CallEnd: Sendable {
    /// How the end is counted.
    enum Count: Sendable {
        /// Not at all: it was counted in a lane, or the call was made through a former circuit of this name.
        case done
        /// On the board, for totals alone.
        case total(BadEnd)
        /// On the board, where a rule decides; the call was let through under this epoch.
        case decisive(BadEnd, epoch: Int64)
        /// On the board, and by this process for itself: memory, which has let the call through under this epoch,
        /// decides by the process's own counts.
        case inMemory(BadEnd, epoch: Int64)
    }

    let ending: Ending
    /// What the file is to be told; nil if nothing.
    let input: CircuitInput?
    let count: Count
}

extension Verdict {
    /// Whether the call counts as failed.
    var isFailure: Bool {
        switch self {
        case .failure, .outage: true
        case .success, .ignored: false
        }
    }
}

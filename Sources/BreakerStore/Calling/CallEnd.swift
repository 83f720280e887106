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

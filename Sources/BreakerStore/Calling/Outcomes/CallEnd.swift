/// The work to be done at the end of a call.
///
/// The work is decided once, and carried out by a synchronous caller, by a task, or later by the store's threads.
struct CallEnd: Sendable {
    /// How the end is counted.
    enum Count: Sendable {
        /// Not any more: a lane has counted the end, or the call was made through a former circuit of this name.
        case done
        /// On the board, for totals alone.
        case total(BadEnd)
        /// On the board, where a rule decides; the call was let through in this epoch.
        case decisive(BadEnd, epoch: Int64)
        /// On the board, and by this process for itself: memory, which let the call through in this epoch, decides by
        /// the process's own counts.
        case inMemory(BadEnd, epoch: Int64)
    }

    let ending: Ending
    /// The input to commit; nil if there is none.
    let input: CircuitInput?
    let count: Count
}

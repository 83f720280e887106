/// The order in which a thread may take locks: each lock must have a higher rank than all locks that the thread holds.
///
/// No lock is held while a continuation is resumed or the user's code runs, be it a closure, an event's handler or a
/// clock. Debug builds end the process at a lock that is taken out of this order.
enum LockRank: UInt8 {
    /// Whether a link has its seat.
    case seat
    /// Which stores of this process share a file.
    case registry
    /// A store's own state: its circuits and its listeners.
    case store
    /// Opening the board.
    case boardOpening
    /// Which bytes of the lock file show that the file can't be used.
    case mark
    /// The tickets that wait, who leads, whether the file can be used; and the gates, which follow that at once.
    case life
    /// The connection that answers calls.
    case answers
    /// Lending the connection for long reads, and taking it back.
    case viewer
    /// What memory has seen and the file has not got yet.
    case outbox
    /// Which circuits this process uses.
    case circuits
    /// A circuit in memory.
    case memory
    /// Which segments of a board this process has mapped, even while the board grows.
    case board
    /// A circuit's counts on their way from lanes to cells.
    case counts
    /// No lock is taken under one of these: a ticket's outcome, the readers of events, the counts of refusals, the
    /// state of a circuit's handles.
    case leaf
}

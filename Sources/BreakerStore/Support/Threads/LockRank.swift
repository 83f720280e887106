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
    /// Which bytes of the lock file this process has locked, to show that it can't use the file.
    case mark
    /// The waiting tickets, the leader, whether the file can be used; and the gates, which are opened and shut with
    /// that.
    case life
    /// The connection that reads for calls.
    case answers
    /// Lending the connection for long reads, and taking it back.
    case viewer
    /// What the in-memory fallback has seen and the file does not have yet.
    case outbox
    /// Which circuits this process uses.
    case circuits
    /// A circuit's in-memory fallback.
    case memory
    /// Which segments of a board this process has mapped, even while the board grows.
    case board
    /// Moving a circuit's counts from lanes to cells.
    case counts
    /// No lock is taken while one of these is held: a ticket's outcome, the readers of events, the state of a circuit's
    /// handles, and others.
    case leaf
}

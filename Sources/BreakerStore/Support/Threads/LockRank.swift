/// The order in which a thread may take locks: only one of a higher rank than all that it holds.
///
/// A store's core has six, `life` to `counts`. No lock is held while a continuation is resumed or the user's code
/// runs, be it a closure, an event's handler or a clock. Debug builds end the process at a lock that is taken out of
/// this order.
enum LockRank: UInt8 {
    /// Whether a link has its seat.
    case seat
    /// Which stores of this process share a file.
    case registry
    /// A store's own: its circuits and who listens.
    case store
    /// Opening the board.
    case boardOpening
    /// What waits, who leads, whether the file can be used; and the gates, which follow that at once.
    case life
    /// The connection that answers calls.
    case answers
    /// The connection for long reads, while it is lent out or given back.
    case viewer
    /// What the file is to be told later.
    case outbox
    /// Which circuits this process uses.
    case circuits
    /// A circuit in memory.
    case memory
    /// Which segments of a board this process has in memory, also while the board grows.
    case board
    /// A circuit's counts on their way to where they are added up.
    case counts
    /// Nothing is taken while one of these is held: a ticket's outcome, the hub's listeners, the counts of refusals,
    /// what a circuit's handles share.
    case leaf
}

/// What an acknowledged change survives.
public enum Durability: Sendable, Hashable {
    /// A trip, a recovery and what an operator does survive power loss, all else the end of the process.
    ///
    /// A circuit that was half-open may be open again after a power loss, with its time come.
    case transitions
    /// Each commit survives power loss; each waits for the disk.
    case everyCommit
    /// All survives the end of the process, and nothing waits for the disk.
    case processCrash
}

/// What an acknowledged change survives.
public enum Durability: Sendable, Hashable {
    /// A change of a circuit's state survives power loss, a counted failure the end of the process.
    case transitions
    /// Each commit survives power loss; each waits for the disk.
    case everyCommit
    /// All survives the end of the process, and nothing waits for the disk.
    case processCrash
}

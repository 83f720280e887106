/// Which crashes an acknowledged change survives.
public enum Durability: Sendable, Hashable {
    /// Trips, recoveries and operators' orders survive power loss; all other changes survive the end of the process.
    ///
    /// A circuit that was half-open may be open again after a power loss, and due.
    case transitions
    /// Each commit survives power loss, and waits for the disk.
    case everyCommit
    /// All changes survive the end of the process, and none waits for the disk.
    case processCrash
}

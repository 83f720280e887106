/// What opening a store does when the file can't be used.
public enum WhenUnavailable: Sendable, Hashable {
    /// Opening throws an error.
    case throwError
    /// Opening succeeds, degraded: memory guards calls until the file can be used.
    ///
    /// Opening still throws for a missing directory, for a file system or a kind of file that can't serve, and for an
    /// invalid configuration.
    case degrade
}

/// What opening a store does when the file can't be used.
public enum WhenUnavailable: Sendable, Hashable {
    /// Opening throws an error.
    case throwError
    /// Opening succeeds, degraded: the in-memory fallback decides about calls until the file can be used.
    ///
    /// The file's directory may be missing, too, and come later. Opening still throws for a file system or a kind of
    /// file that can't serve, for an invalid configuration, and for a store that only reads.
    case degrade
}

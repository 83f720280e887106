/// What opening a store does when its file can't be used.
public enum WhenUnavailable: Sendable, Hashable {
    /// Opening throws.
    case throwError
    /// Opening succeeds, degraded: calls are guarded in memory until the file can be used.
    ///
    /// A missing directory, a file system or a kind of file that can't serve, and an invalid configuration throw
    /// nevertheless.
    case degrade
}

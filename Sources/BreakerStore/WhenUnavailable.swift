/// What opening a store does when its file can't be used.
public enum WhenUnavailable: Sendable, Hashable {
    /// Opening throws.
    case throwError
    /// Opening succeeds, degraded: calls are guarded in memory until the file can be used.
    case degrade
}

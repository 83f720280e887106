#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Whether a store can use its file.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum StoreHealth: Sendable, Equatable, CustomStringConvertible {
    /// Circuits are shared through the file.
    case healthy
    /// The file has been unusable since this date, and the error says why it can't be used now.
    ///
    /// The in-memory fallback decides about calls, and the store tries to recover.
    case degraded(since: Date, error: BreakerStoreError)
    /// The store was closed.
    case closed

    /// Whether circuits are shared through the file.
    public var isHealthy: Bool { self == .healthy }

    /// `healthy`, `closed`, or since when and why the store is degraded.
    public var description: String {
        switch self {
        case .healthy: "healthy"
        case .degraded(let since, let error): "degraded since \(since): \(error)"
        case .closed: "closed"
        }
    }
}

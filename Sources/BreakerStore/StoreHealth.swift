#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Whether a store's file is in use.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum StoreHealth: Sendable, Equatable, CustomStringConvertible {
    /// Circuits are shared through the file.
    case healthy
    /// The file can't be used since then, for this reason; calls are guarded in memory, and the store tries to come
    /// back.
    case degraded(since: Date, error: BreakerStoreError)
    /// The store was closed.
    case closed

    /// Whether circuits are shared through the file.
    public var isHealthy: Bool { self == .healthy }

    /// `healthy`, `closed`, or since when and why it is degraded.
    public var description: String {
        switch self {
        case .healthy: "healthy"
        case .degraded(let since, let error): "degraded since \(since): \(error)"
        case .closed: "closed"
        }
    }
}

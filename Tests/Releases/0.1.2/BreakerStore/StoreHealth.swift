#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Whether a store's file is in use.
public enum StoreHealth: Sendable {
    /// Circuits are shared through the file.
    case healthy
    /// The file can't be used since then, for this reason; calls are guarded in memory, and the store tries to come
    /// back.
    case degraded(since: Date, error: BreakerStoreError)
    /// The store was closed.
    case closed
}

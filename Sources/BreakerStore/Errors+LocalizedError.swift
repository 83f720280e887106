#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension CircuitOpenError: LocalizedError {
    /// The description, so that `localizedDescription` gives it, too.
    public var errorDescription: String? { self.description }
}

extension CallTimeoutError: LocalizedError {
    /// The description, so that `localizedDescription` gives it, too.
    public var errorDescription: String? { self.description }
}

extension BreakerStoreError: LocalizedError {
    /// The description, so that `localizedDescription` gives it, too.
    public var errorDescription: String? { self.description }
}

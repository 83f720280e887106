#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension CircuitOpenError: LocalizedError {
    /// The description, which `localizedDescription` then gives, too.
    public var errorDescription: String? { self.description }
}

extension CallTimeoutError: LocalizedError {
    /// The description, which `localizedDescription` then gives, too.
    public var errorDescription: String? { self.description }
}

extension BreakerStoreError: LocalizedError {
    /// The description, which `localizedDescription` then gives, too.
    public var errorDescription: String? { self.description }
}

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a circuit does with a call.
public enum CircuitState: Sendable, Hashable {
    /// Calls are let through.
    case closed
    /// Calls are refused until then. A past date: the time has come, and the next call is a probe.
    case open(until: Date)
    /// A few calls are let through as probes; their results decide.
    case halfOpen
    /// An operator holds it open or closed, until then, or until released when nil.
    case held(HoldState, until: Date?)
}

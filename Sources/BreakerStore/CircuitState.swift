#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a circuit does with a call.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CircuitState: Sendable, Hashable, CustomStringConvertible {
    /// Calls are let through.
    case closed
    /// Calls are refused until then. A past date: the time has come, and the next call is a probe.
    case open(until: Date)
    /// A few calls are let through as probes; their results decide.
    case halfOpen
    /// An operator holds it open or closed, until then, or until released when nil.
    case held(HoldState, until: Date?)

    /// Whether it is open, before its time or due; a held circuit is not.
    public var isOpen: Bool {
        switch self {
        case .open: true
        case .closed, .halfOpen, .held: false
        }
    }

    /// Whether calls are let through and counted; a held circuit's are not.
    public var isClosed: Bool { self == .closed }

    /// The state in words, with its end where it has one.
    public var description: String {
        switch self {
        case .closed: "closed"
        case .open(let until): "open until \(until)"
        case .halfOpen: "half-open"
        case .held(let state, let until): "held \(state.rawValue)" + (until.map { " until \($0)" } ?? "")
        }
    }
}

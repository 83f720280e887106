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
    /// Calls are refused until this date; if it is past, the next call is a probe.
    case open(until: Date)
    /// A few calls are let through as probes; their ends decide the next state.
    case halfOpen
    /// An operator holds the circuit open or closed, until this date; nil means until the release.
    case held(HoldState, until: Date?)

    /// Whether the circuit is open, due or not; a held circuit is not open.
    public var isOpen: Bool {
        switch self {
        case .open: true
        case .closed, .halfOpen, .held: false
        }
    }

    /// Whether calls are let through and counted; a held circuit is not closed.
    public var isClosed: Bool { self == .closed }

    /// The state in words, with the date of its end if there is one.
    public var description: String {
        switch self {
        case .closed: "closed"
        case .open(let until): "open until \(until)"
        case .halfOpen: "half-open"
        case .held(let state, let until): "held \(state.rawValue)" + (until.map { " until \($0)" } ?? "")
        }
    }
}

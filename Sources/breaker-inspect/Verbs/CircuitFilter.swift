import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// Selects circuits by state and group.
struct CircuitFilter: Sendable {
    private let states: [StateChoice]
    private let group: String?

    /// Reads the options.
    ///
    /// - Parameter states: words with commas between them; nil for all.
    init(states: String?, group: String?) throws(Failure) {
        self.states = try states.map(Self.choices) ?? []
        self.group = group
    }

    func admits(_ circuit: CircuitSnapshot) -> Bool {
        self.admits(circuit.standing, group: circuit.config.group)
    }

    func admits(_ standing: Standing, group: String?) -> Bool {
        (self.states.isEmpty || self.states.contains { $0.includes(standing) })
            && (self.group == nil || group == self.group)
    }

    /// The states that a list of words names.
    private static func choices(_ list: String) throws(Failure) -> [StateChoice] {
        var states: [StateChoice] = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            states.append(try Arguments.choice(String(word), of: StateChoice.allCases, for: .state))
        }
        return states
    }
}

/// A state as the command line names it.
enum StateChoice: String, CaseIterable, Sendable {
    /// Due or not.
    case open
    /// Open, and the recovery time is over.
    case due
    case halfOpen = "half-open"
    case closed
    /// Both kinds of hold.
    case held
    case heldOpen = "held-open"
    case heldClosed = "held-closed"

    func includes(_ standing: Standing) -> Bool {
        switch self {
        case .open: standing.word == .open
        case .due: standing.isDue
        case .halfOpen: standing.word == .halfOpen
        case .closed: standing.word == .closed
        case .held: standing.word == .heldOpen || standing.word == .heldClosed
        case .heldOpen: standing.word == .heldOpen
        case .heldClosed: standing.word == .heldClosed
        }
    }
}

import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// Selects circuits by state and group.
struct CircuitFilter: Sendable {
    private let states: [StateWord]
    private let group: String?

    /// Reads the options.
    ///
    /// - Parameter states: words with commas between them; nil for all.
    init(states: String?, group: String?) throws(Failure) {
        self.states = try states.map(Self.words) ?? StateWord.allCases
        self.group = group
    }

    func admits(_ circuit: CircuitSnapshot) -> Bool {
        self.admits(circuit.stateWord, group: circuit.config.group)
    }

    func admits(_ word: StateWord, group: String?) -> Bool {
        self.states.contains(word) && (self.group == nil || group == self.group)
    }

    /// The states that a list of words names.
    private static func words(_ list: String) throws(Failure) -> [StateWord] {
        var states: [StateWord] = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            states += try Arguments.choice(String(word), of: StateChoice.allCases, for: .state).words
        }
        return states
    }
}

/// A state as the command line names it.
enum StateChoice: String, CaseIterable, Sendable {
    case open
    case halfOpen = "half-open"
    case closed
    /// Both kinds of hold.
    case held
    case heldOpen = "held-open"
    case heldClosed = "held-closed"

    var words: [StateWord] {
        switch self {
        case .open: [.open]
        case .halfOpen: [.halfOpen]
        case .closed: [.closed]
        case .held: [.heldOpen, .heldClosed]
        case .heldOpen: [.heldOpen]
        case .heldClosed: [.heldClosed]
        }
    }
}

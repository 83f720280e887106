import BreakerStoreJSON
import BreakerTool

extension Standing {
    /// The look of the state; a circuit that refuses nothing never looks like one that refuses calls.
    var look: Look { self.wouldRefuse || self.isDue ? .doubtful : self.word.look }
}

extension StateWord {
    var look: Look {
        switch self {
        case .open, .heldOpen: .bad
        case .halfOpen: .doubtful
        case .heldClosed: .overridden
        case .closed: .good
        }
    }
}

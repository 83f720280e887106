import BreakerStoreJSON
import BreakerTool

extension Standing {
    /// One that refuses nothing is never shown as one that does.
    var look: Look { self.wouldRefuse ? .doubtful : self.word.look }
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

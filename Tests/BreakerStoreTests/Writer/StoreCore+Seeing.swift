@testable import BreakerStore

/// What tests ask of a core.
extension StoreCore {
    var waitingCount: Int { self.read { $0.waiting.count } }
    var isThreadLeading: Bool { self.read { if case .thread = $0.lead { true } else { false } } }
}

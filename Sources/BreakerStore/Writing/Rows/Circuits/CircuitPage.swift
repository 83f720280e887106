/// Which circuits a search by name wants.
struct CircuitPage: Sendable {
    var pattern = "*"
    var group: String?
    var isClosed: Bool?
    /// The last name of the page before.
    var after: String?
    var limit = Int.max

    /// Whether a circuit of a fitting name is wanted.
    func has(_ row: CircuitRow, at now: StoreTime) -> Bool {
        if let group = self.group, row.label != group { return false }
        guard let isClosed = self.isClosed else { return true }
        return isClosed == row.circuit.isClosed(at: now)
    }
}

extension Circuit {
    /// Whether calls go through and are counted, as people see it.
    fileprivate func isClosed(at now: StoreTime) -> Bool {
        if self.hold(at: now) != nil { return false }
        switch self.state {
        case .closed, .unknown: return true
        case .open, .halfOpen: return false
        }
    }
}

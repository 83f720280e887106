/// A filter and a limit for a search of circuits by name.
struct CircuitPage: Sendable {
    var pattern = "*"
    var group: String?
    var isClosed: Bool?
    /// The last name of the previous page.
    var after: String?
    var limit = Int.max

    /// Whether a circuit passes the filters; SQLite has compared its name with the pattern.
    func has(_ row: CircuitRow, at now: StoreTime) -> Bool {
        if let group = self.group, row.label != group { return false }
        guard let isClosed = self.isClosed else { return true }
        return isClosed == row.circuit.isClosed(at: now)
    }
}

extension Circuit {
    /// Whether users see the circuit as closed: calls go through, and no hold is in force.
    fileprivate func isClosed(at now: StoreTime) -> Bool {
        if self.hold(at: now) != nil { return false }
        switch self.state {
        case .closed, .unknown: return true
        case .open, .halfOpen: return false
        }
    }
}

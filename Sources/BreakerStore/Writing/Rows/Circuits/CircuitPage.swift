/// A filter and a limit for a search of circuits by name.
struct CircuitPage: Sendable {
    var pattern = "*"
    var group: String?
    var isClosed: Bool?
    /// The last name of the previous page.
    var after: String?
    var limit = Int.max

    /// Whether a circuit passes the filters; SQLite has compared its name with the pattern.
    func has(_ row: CircuitRow, at moment: ReadingMoment) -> Bool {
        if let group = self.group, row.label != group { return false }
        return self.isClosed.map { $0 == (moment.state(of: row) == .closed) } ?? true
    }
}

import Synchronization

/// What the store's thread knows of circuits that nobody uses.
final class IdleCircuits: Sendable {
    /// Where the look through the file stands.
    enum Sweep: Equatable {
        /// To `circuits`, when the next sweep is due.
        case over
        /// To `history` after the last row.
        case circuits(after: Int64)
        /// To `over` after the last name.
        case history(after: String)
    }

    /// How much is read or changed at once: a few milliseconds' work.
    static let rowsAtOnce = 100
    static let namesAtOnce = 200
    static let eventsAtOnce = 500
    private static let unusedAtOnce = 256

    private struct State {
        var tables: [CircuitTable] = []
        /// Circuits that this process has let go of, and the file does not know yet.
        var unused: [CircuitTable.Idle] = []
        var sweep = Sweep.over
    }

    private let state = Mutex(State(), rank: .leaf)

    // MARK: - The stores' circuits

    var tables: [CircuitTable] { self.state.withLock { $0.tables } }

    func add(_ table: CircuitTable) { self.state.withLock { $0.tables.append(table) } }

    func remove(_ table: CircuitTable) { self.state.withLock { $0.tables.removeAll { $0 === table } } }

    // MARK: - What the file is to be told

    func add(_ idle: CircuitTable.Idle) { self.state.withLock { $0.unused.append(idle) } }

    var hasUnused: Bool { self.state.withLock { !$0.unused.isEmpty } }

    func takeUnused() -> [CircuitTable.Idle] {
        self.state.withLock { state in
            let taken = Array(state.unused.prefix(Self.unusedAtOnce))
            state.unused.removeFirst(taken.count)
            return taken
        }
    }

    func putBack(_ idle: [CircuitTable.Idle]) { self.state.withLock { $0.unused += idle } }

    // MARK: - The look through the file

    /// Only the store's thread moves on.
    var sweep: Sweep {
        get { self.state.withLock { $0.sweep } }
        set { self.state.withLock { $0.sweep = newValue } }
    }
}

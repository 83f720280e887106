import Synchronization

/// A connection for long reads, so that no call waits for a long read.
///
/// No lock is held while the connection is lent. A second read at the same time opens another connection.
final class Viewer: Sendable {
    private struct State {
        var idle: Database?
        var lent = 0
    }

    private let state = Mutex(State(), rank: .viewer)

    /// Runs `body` with a connection, which `open` opens if none is idle.
    func use<Value>(
        opening open: () throws(BreakerStoreError) -> Database,
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        self.state.withLock { $0.lent += 1 }
        // Decremented only here, where no reference to the connection is left: `close` waits for that.
        defer { self.state.withLock { $0.lent -= 1 } }
        return try self.lend(opening: open, body)
    }

    private func lend<Value>(
        opening open: () throws(BreakerStoreError) -> Database,
        _ body: (Database) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        let idle = self.state.withLock { state in
            defer { state.idle = nil }
            return state.idle
        }
        let database = if let idle { idle } else { try open() }
        do throws(BreakerStoreError) {
            let value = try body(database)
            self.keep(database)
            return value
        } catch {
            // If the connection may be the cause, it is dropped, and the next read opens another one.
            if !error.concernsFile || error.code == .busy { self.keep(database) }
            throw error
        }
    }

    /// Whether an idle connection is open.
    var isIdle: Bool { self.state.withLock { $0.idle != nil } }

    private func keep(_ database: Database) {
        self.state.withLock { if $0.idle == nil { $0.idle = database } }
    }

    /// Waits until all lent connections have been returned, and closes them.
    ///
    /// The caller makes sure that no read begins in the meantime.
    func close() {
        let deadline = Deadline(after: .forever)
        while true {
            let isDone = self.state.withLock { state in
                state.idle = nil
                return state.lent == 0
            }
            if isDone { return }
            deadline.pause()
        }
    }
}

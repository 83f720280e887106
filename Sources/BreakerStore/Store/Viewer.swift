import Synchronization

/// A connection for long reads, so that no call waits for one.
///
/// It is lent out, and no lock is held while it is used: a read that comes meanwhile has another.
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
        let idle = self.state.withLock { state in
            state.lent += 1
            defer { state.idle = nil }
            return state.idle
        }
        var database: Database?
        defer { self.giveBack(database) }
        do throws(BreakerStoreError) {
            let lent = if let idle { idle } else { try open() }
            database = lent
            return try body(lent)
        } catch {
            // The next one may have better luck with another.
            if error.isOfTheFile, error.code != .busy { database = nil }
            throw error
        }
    }

    /// Whether a connection is open that nobody uses.
    var isIdle: Bool { self.state.withLock { $0.idle != nil } }

    private func giveBack(_ database: Database?) {
        self.state.withLock { state in
            state.lent -= 1
            if state.idle == nil { state.idle = database }
        }
    }

    /// Closes the connection; whoever has one closes it first.
    ///
    /// The caller sees to it that none is opened meanwhile.
    func close() {
        let patience = Deadline(after: .seconds(1_000_000))
        while true {
            let isDone = self.state.withLock { state in
                state.idle = nil
                return state.lent == 0
            }
            if isDone { return }
            patience.pause()
        }
    }
}

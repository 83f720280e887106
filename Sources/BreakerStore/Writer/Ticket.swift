import Synchronization

/// A queued change, whatever the type of its value.
protocol AnyTicket: AnyObject, Sendable {
    var deadline: Deadline { get }
    /// Runs inside the transaction; the returned closure is called after COMMIT.
    func perform(in transaction: Transaction) throws(BreakerStoreError) -> @Sendable () -> Void
    /// Ends the ticket with an error; false if the ticket already has an outcome, which stays.
    @discardableResult
    func fail(_ error: BreakerStoreError) -> Bool
}

/// A queued change, and the caller that waits for it; gets exactly one outcome.
final class Ticket<Value: Sendable>: AnyTicket {
    /// How a change ended.
    ///
    /// Not a `Result`: to make its type for the first ticket of a process, the runtime searches all loaded libraries
    /// for conformances, which took a twentieth of an opening. A continuation in `State` would cost the same.
    enum Completion {
        case success(Value)
        case failure(BreakerStoreError)

        func get() throws(BreakerStoreError) -> Value {
            switch self {
            case .success(let value): return value
            case .failure(let error): throw error
            }
        }
    }

    private enum State {
        case waiting
        case watched(resume: @Sendable () -> Void)
        case done(Completion)
    }

    let deadline: Deadline
    /// Called if the change could not be committed; for tickets without a waiting caller.
    private let giveUp: (@Sendable (BreakerStoreError) -> Void)?
    /// Called if the change was committed; for tickets without a waiting caller.
    private let then: (@Sendable (Value) -> Void)?
    /// Called if the change was committed after the caller had given up, to undo its effect.
    private let undo: (@Sendable (Value) -> Void)?
    private let work: @Sendable (Transaction) throws(BreakerStoreError) -> Value
    private let state = Mutex<State>(.waiting)

    init(
        deadline: Deadline,
        then: (@Sendable (Value) -> Void)? = nil,
        orElse giveUp: (@Sendable (BreakerStoreError) -> Void)? = nil,
        undoIfUnclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping @Sendable (Transaction) throws(BreakerStoreError) -> Value
    ) {
        self.deadline = deadline
        self.then = then
        self.giveUp = giveUp
        self.undo = undo
        self.work = work
    }

    func perform(in transaction: Transaction) throws(BreakerStoreError) -> @Sendable () -> Void {
        let value = try self.work(transaction)
        return { if self.finish(.success(value)) { self.then?(value) } else { self.undo?(value) } }
    }

    @discardableResult
    func fail(_ error: BreakerStoreError) -> Bool {
        let isFirst = self.finish(.failure(error))
        if isFirst { self.giveUp?(error) }
        return isFirst
    }

    var outcome: Completion? {
        self.state.withLock {
            switch $0 {
            case .done(let outcome): outcome
            case .waiting, .watched: nil
            }
        }
    }

    /// Blocks the calling thread until the ticket is done; nil if the deadline comes first.
    func wait() -> Completion? {
        let signal = Signal()
        if self.watch({ signal.signal() }) { _ = signal.wait(for: self.deadline.remaining) }
        return self.outcome
    }

    /// Suspends the calling task until the ticket is done; nil if the deadline comes first.
    func value(by timer: SharedTimer) async -> Completion? {
        _ = await timer.wait(for: self.deadline.remaining) { wait in
            if !self.watch({ timer.end(wait) }) { timer.end(wait) }
        }
        return self.outcome
    }

    /// Sets the function that is called when the ticket is done; false, and no call, if it is done already.
    private func watch(_ resume: @escaping @Sendable () -> Void) -> Bool {
        self.state.withLock {
            switch $0 {
            case .waiting, .watched:
                $0 = .watched(resume: resume)
                return true
            case .done:
                return false
            }
        }
    }

    /// Sets the outcome and resumes the caller; false if the ticket already had an outcome, which stays.
    private func finish(_ outcome: Completion) -> Bool {
        var resume: (@Sendable () -> Void)?
        let isFirst = self.state.withLock { state in
            switch state {
            case .done: return false
            case .waiting: break
            case .watched(let watcher): resume = watcher
            }
            state = .done(outcome)
            return true
        }
        resume?()
        return isFirst
    }
}

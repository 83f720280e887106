import Synchronization

/// A change that waits to be committed, whatever it returns.
protocol AnyTicket: AnyObject, Sendable {
    var deadline: Deadline { get }
    /// Whether it was committed or has failed.
    var isDone: Bool { get }
    /// The handles whose answer is read anew after the commit.
    var asker: Asker? { get }
    /// Runs inside the transaction; the closure that it returns is called after COMMIT.
    func perform(in transaction: Transaction) throws(BreakerStoreError) -> @Sendable () -> Void
    /// Ends the ticket with an error; false if it had an outcome before, which stays.
    @discardableResult
    func fail(_ error: BreakerStoreError) -> Bool
}

/// A change that waits to be committed, and the caller that waits for it.
final class Ticket<Value: Sendable>: AnyTicket {
    typealias Outcome = Result<Value, BreakerStoreError>

    private enum State {
        case waiting
        case watched(by: Waiter)
        case done(Outcome)
    }

    private enum Waiter {
        case thread(Signal)
        case task(CheckedContinuation<Outcome, Never>)
    }

    let deadline: Deadline
    let asker: Asker?
    /// Called if the change could not be committed; for tickets that nobody waits for.
    private let giveUp: (@Sendable (BreakerStoreError) -> Void)?
    /// Called if the change was committed; for tickets that nobody waits for.
    private let then: (@Sendable (Value) -> Void)?
    /// Called if the change was committed after the caller had given up.
    private let undo: (@Sendable (Value) -> Void)?
    private let work: @Sendable (Transaction) throws(BreakerStoreError) -> Value
    private let state = Mutex<State>(.waiting)

    init(
        deadline: Deadline,
        asker: Asker? = nil,
        then: (@Sendable (Value) -> Void)? = nil,
        orElse giveUp: (@Sendable (BreakerStoreError) -> Void)? = nil,
        unclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping @Sendable (Transaction) throws(BreakerStoreError) -> Value
    ) {
        self.deadline = deadline
        self.asker = asker
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

    var isDone: Bool { self.outcome != nil }

    var outcome: Outcome? {
        self.state.withLock {
            switch $0 {
            case .done(let outcome): outcome
            case .waiting, .watched: nil
            }
        }
    }

    /// Blocks the calling thread until the ticket is done; nil if the deadline comes first.
    func wait() -> Outcome? {
        let signal = Signal()
        if let outcome = self.watch(by: .thread(signal)) { return outcome }
        _ = signal.wait(for: self.deadline.remaining)
        return self.outcome
    }

    /// Suspends the calling task until the ticket is done; the leader or a timer ends a ticket that is overdue.
    func value() async -> Outcome {
        await withCheckedContinuation { continuation in
            if let outcome = self.watch(by: .task(continuation)) { continuation.resume(returning: outcome) }
        }
    }

    private func watch(by waiter: Waiter) -> Outcome? {
        self.state.withLock {
            switch $0 {
            case .waiting, .watched:
                $0 = .watched(by: waiter)
                return nil
            case .done(let outcome):
                return outcome
            }
        }
    }

    /// Sets the outcome and resumes the caller; false if the ticket had an outcome before, which stays.
    private func finish(_ outcome: Outcome) -> Bool {
        let (isFirst, waiter): (Bool, Waiter?) = self.state.withLock {
            switch $0 {
            case .done:
                return (false, nil)
            case .waiting:
                $0 = .done(outcome)
                return (true, nil)
            case .watched(by: let waiter):
                $0 = .done(outcome)
                return (true, waiter)
            }
        }
        switch waiter {
        case .thread(let signal): signal.signal()
        case .task(let continuation): continuation.resume(returning: outcome)
        case nil: break
        }
        return isFirst
    }
}

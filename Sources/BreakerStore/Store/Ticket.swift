import Synchronization

/// A change that waits to be committed, whatever it returns.
protocol AnyTicket: AnyObject, Sendable {
    var deadline: Deadline { get }
    /// Whether it was committed or has failed.
    var isDone: Bool { get }
    /// Whose answer is to be read anew after the commit.
    var asker: Asker? { get }
    /// Runs inside the transaction; what it returns is called after COMMIT.
    func perform(in transaction: Transaction) throws(BreakerStoreError) -> @Sendable () -> Void
    /// Returns whether this was its first outcome, which counts.
    @discardableResult
    func fail(_ error: BreakerStoreError) -> Bool
}

/// A change that waits to be committed, and the one who waits for it.
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
    /// Called if it could not be committed; for tickets that nobody waits for.
    private let giveUp: (@Sendable (BreakerStoreError) -> Void)?
    /// Called if it was committed when nobody waited any longer.
    private let undo: (@Sendable (Value) -> Void)?
    private let work: @Sendable (Transaction) throws(BreakerStoreError) -> Value
    private let state = Mutex<State>(.waiting)

    init(
        deadline: Deadline,
        asker: Asker? = nil,
        orElse giveUp: (@Sendable (BreakerStoreError) -> Void)? = nil,
        unclaimed undo: (@Sendable (Value) -> Void)? = nil,
        _ work: @escaping @Sendable (Transaction) throws(BreakerStoreError) -> Value
    ) {
        self.deadline = deadline
        self.asker = asker
        self.giveUp = giveUp
        self.undo = undo
        self.work = work
    }

    func perform(in transaction: Transaction) throws(BreakerStoreError) -> @Sendable () -> Void {
        let value = try self.work(transaction)
        return { if !self.finish(.success(value)) { self.undo?(value) } }
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

    /// Blocks the calling thread until the ticket is done or its deadline is over.
    func wait() -> Outcome? {
        let signal = Signal()
        if let outcome = self.watch(by: .thread(signal)) { return outcome }
        _ = signal.wait(for: self.deadline.remaining)
        return self.outcome
    }

    /// Suspends the calling task until the ticket is done; who leads the queue ends what is overdue.
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

    /// The first outcome counts: a ticket that was given up at its deadline stays so.
    ///
    /// Returns whether it was this one.
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

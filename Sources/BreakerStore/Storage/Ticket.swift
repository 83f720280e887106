import Dispatch
import Synchronization

/// A change that waits to be committed, whatever it returns.
protocol AnyTicket: AnyObject, Sendable {
    var deadline: Deadline { get }
    /// Whose answer is to be read anew after the commit.
    var asker: Asker? { get }
    /// Runs inside the transaction; what it returns is called after COMMIT.
    func perform(in transaction: Transaction) throws(BreakerStoreError) -> @Sendable () -> Void
    func fail(_ error: BreakerStoreError)
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
        case thread(DispatchSemaphore)
        case task(CheckedContinuation<Outcome, Never>)
    }

    let deadline: Deadline
    let asker: Asker?
    /// Called if it could not be committed; for tickets that nobody waits for.
    private let giveUp: (@Sendable () -> Void)?
    private let work: @Sendable (Transaction) throws(BreakerStoreError) -> Value
    private let state = Mutex<State>(.waiting)

    init(
        deadline: Deadline,
        asker: Asker? = nil,
        orElse giveUp: (@Sendable () -> Void)? = nil,
        _ work: @escaping @Sendable (Transaction) throws(BreakerStoreError) -> Value
    ) {
        self.deadline = deadline
        self.asker = asker
        self.giveUp = giveUp
        self.work = work
    }

    func perform(in transaction: Transaction) throws(BreakerStoreError) -> @Sendable () -> Void {
        let value = try self.work(transaction)
        return { _ = self.finish(.success(value)) }
    }

    func fail(_ error: BreakerStoreError) {
        if self.finish(.failure(error)) { self.giveUp?() }
    }

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
        let semaphore = DispatchSemaphore(value: 0)
        if let outcome = self.watch(by: .thread(semaphore)) { return outcome }
        _ = semaphore.wait(timeout: .now() + .microseconds(Int(self.deadline.remaining / .microseconds(1)) + 1))
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
        case .thread(let semaphore): semaphore.signal()
        case .task(let continuation): continuation.resume(returning: outcome)
        case nil: break
        }
        return isFirst
    }
}

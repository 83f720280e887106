import Synchronization

/// Tells somebody of a store's health, each change once and in order, on a thread of its own: what it calls may block.
final class HealthListener: Sendable {
    private struct State {
        var waiting: [StoreHealth] = []
        var last: StoreHealth?
        var isOver = false
    }

    /// Of more changes than these that wait the oldest are dropped: the newest say what is.
    private static let mostWaiting = 1_000

    private let state = Mutex(State())
    private let thread = StoreThread()

    /// - Parameters:
    ///   - tell: called with each change.
    ///   - end: called after the last one.
    init(_ tell: @escaping @Sendable (StoreHealth) -> Void, atEnd end: @escaping @Sendable () -> Void = {}) {
        let isStarted = self.thread.start { [self] in
            while let changes = self.take() {
                for health in changes { tell(health) }
                if changes.isEmpty { self.thread.sleep(until: nil) }
            }
            end()
        }
        if !isStarted { end() }
    }

    /// Adds a change; what is the same as before is none.
    ///
    /// Takes some instructions, and may be called under a lock.
    func add(_ health: StoreHealth) {
        let isNew = self.state.withLock { state in
            guard !state.isOver, state.last != health else { return false }
            state.last = health
            state.waiting.append(health)
            if state.waiting.count > Self.mostWaiting { state.waiting.removeFirst() }
            return true
        }
        if isNew { self.thread.wake() }
    }

    /// What is known already is no change.
    func know(_ health: StoreHealth) { self.state.withLock { $0.last = health } }

    /// Nothing more will be added; what waits is still told.
    func finish() {
        self.state.withLock { $0.isOver = true }
        self.thread.wake()
    }

    /// What is to be told next; nil when all has been told.
    private func take() -> [StoreHealth]? {
        self.state.withLock { state in
            if state.waiting.isEmpty, state.isOver { return nil }
            defer { state.waiting.removeAll() }
            return state.waiting
        }
    }
}

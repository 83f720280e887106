import Synchronization

/// Reports each change of a store's health, once and in order, on a thread of its own: a closure of the user may block.
final class HealthListener: Sendable {
    private struct State {
        var waiting: [StoreHealth] = []
        var last: StoreHealth?
        var isOver = false
    }

    /// If more changes than these wait, the oldest are dropped: the newest show the present health.
    private static let mostWaiting = 1_000

    private let state = Mutex(State())
    private let thread = StoreThread()

    /// - Parameters:
    ///   - tell: called with each change.
    ///   - end: called after the last change.
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

    /// Adds a change; the same health as before is no change.
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

    /// Sets the health with which the next change is compared, without reporting it.
    func know(_ health: StoreHealth) { self.state.withLock { $0.last = health } }

    /// Ends the listener, once it has reported the changes that wait.
    func finish() {
        self.state.withLock { $0.isOver = true }
        self.thread.wake()
    }

    /// Takes the changes to report next; nil after the end, when no change is left.
    private func take() -> [StoreHealth]? {
        self.state.withLock { state in
            if state.waiting.isEmpty, state.isOver { return nil }
            defer { state.waiting.removeAll() }
            return state.waiting
        }
    }
}

import Synchronization

/// Reports each change of a store's health, once and in order.
///
/// On a thread of its own, because the user's closure may block.
final class HealthListener: Sendable {
    private struct State {
        var waiting: [StoreHealth] = []
        var last: StoreHealth?
        var isOver = false
    }

    /// If more changes than this wait, the oldest are dropped: the newest show the current health.
    private static let maxWaiting = 1_000

    private let state = Mutex(State())
    private let thread = StoreThread()

    /// - Parameters:
    ///   - publish: called with each change.
    ///   - end: called after the last change.
    init(_ publish: @escaping @Sendable (StoreHealth) -> Void, atEnd end: @escaping @Sendable () -> Void = {}) {
        let isStarted = self.thread.start { [self] in
            while let changes = self.drain() {
                for health in changes { publish(health) }
                if changes.isEmpty { self.thread.sleep(until: nil) }
            }
            end()
        }
        if !isStarted { end() }
    }

    /// Adds a change; the same health as before is no change.
    ///
    /// Never blocks, so it may be called under a lock.
    func add(_ health: StoreHealth) {
        let isNew = self.state.withLock { state in
            guard !state.isOver, state.last != health else { return false }
            state.last = health
            state.waiting.append(health)
            if state.waiting.count > Self.maxWaiting { state.waiting.removeFirst() }
            return true
        }
        if isNew { self.thread.wake() }
    }

    /// Sets the health with which the next change is compared, without reporting it.
    func setCurrent(_ health: StoreHealth) { self.state.withLock { $0.last = health } }

    /// Ends the listener, once it has reported the changes that wait.
    func finish() {
        self.state.withLock { $0.isOver = true }
        self.thread.wake()
    }

    /// Removes and returns the changes that wait; nil after the end, when no change is left.
    private func drain() -> [StoreHealth]? {
        self.state.withLock { state in
            if state.waiting.isEmpty, state.isOver { return nil }
            defer { state.waiting.removeAll() }
            return state.waiting
        }
    }
}

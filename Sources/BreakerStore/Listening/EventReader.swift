import Synchronization

/// A stream or a handler: its place in the history, and the events that were read ahead for it.
///
/// Streams at the same place share their pages.
final class EventReader: Sendable {
    private enum Taken {
        case event(CircuitEvent)
        case nothing, end
    }

    private struct State {
        var cursor: EventCursor
        /// Oldest first; none is empty.
        var pages: [ArraySlice<CircuitEvent>] = []
        var count = 0
        /// Whether the history may have events after the cursor.
        ///
        /// At first it may: the header that is compared next may be newer than the cursor.
        var mayHaveMore = true
        /// Whether the reader ends once it has all events.
        var isClosing = false
        /// Whether no event is read any more; those that were read are still handed over.
        var isOver = false
    }

    /// So many events are read ahead: a slow consumer gets them even if they are pruned meanwhile.
    private static let mostAhead = 1_000
    /// So many are read ahead for a stream when the store closes, because its consumer can't ask for more later.
    private static let mostAtEnd = 10_000

    private let feed: EventFeed
    private let state: Mutex<State>
    /// The thread of a handler, which may block; nil for a stream.
    private let thread: StoreThread?
    /// Wakes a consumer of a stream.
    private let news = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let ended = Signal()
    private let forks = ForkRecord.forks

    /// - Parameter handler: called on a thread of its own; nil for a stream.
    init(_ feed: EventFeed, at cursor: EventCursor, _ handler: (@Sendable (CircuitEvent) -> Void)?) {
        _ = ForkRecord.install
        self.feed = feed
        self.state = Mutex(State(cursor: cursor))
        self.thread = handler.map { _ in StoreThread() }
        guard let handler, let thread = self.thread else { return }
        let isStarted = thread.start {
            loop: while true {
                switch self.take() {
                case .event(let event): handler(event)
                case .nothing: thread.sleep(until: nil)
                case .end: break loop
                }
            }
            self.ended.signal()
        }
        if !isStarted { self.end() }
    }

    // MARK: - For the consumer

    /// The next event, once there is one; nil at the end, and in a child of `fork`, which has no thread that reads.
    func next() async -> CircuitEvent? {
        while self.forks == ForkRecord.forks {
            switch self.take() {
            case .event(let event):
                // A second consumer may wait, and be woken only once for many events.
                self.news.continuation.yield()
                return event
            case .end: return nil
            case .nothing:
                if Task.isCancelled { return nil }
                for await _ in self.news.stream { break }
            }
        }
        return nil
    }

    private func take() -> Taken {
        let (taken, isLow): (Taken, Bool) = self.state.withLock { state in
            guard let event = state.pages.first?.first else { return (state.isOver ? .end : .nothing, false) }
            state.pages[0].removeFirst()
            if state.pages[0].isEmpty { state.pages.removeFirst() }
            state.count -= 1
            return (.event(event), state.mayHaveMore && state.count == Self.mostAhead / 2)
        }
        if isLow { self.feed.wake() }
        return taken
    }

    /// Ends the reader.
    ///
    /// - Parameter isCancelled: whether nobody wants the events that were read ahead.
    func end(isCancelled: Bool = false) {
        if self.forks != ForkRecord.forks { return }
        self.state.withLock { state in
            state.isOver = true
            if isCancelled { state.pages = [] }
        }
        self.feed.remove(self)
        self.news.continuation.finish()
        if let thread = self.thread { thread.wake() } else { self.ended.signal() }
    }

    /// Has the feed read what is committed by now, and then end the reader.
    func close() { self.state.withLock { $0.isClosing = true } }

    /// Waits until all events of a reader that closes have been read, and have been handed to a handler.
    func waitForEnd(until deadline: Deadline) {
        if self.ended.wait(for: deadline.remaining) { self.ended.signal() }
    }

    // MARK: - For the feed's thread

    var cursor: EventCursor { self.state.withLock { $0.cursor } }
    var isClosing: Bool { self.state.withLock { $0.isClosing } }

    /// Whether there may be events to read, and room for them.
    var isHungry: Bool {
        self.state.withLock { state in
            let most = state.isClosing && self.thread == nil ? Self.mostAtEnd : Self.mostAhead
            return state.mayHaveMore && !state.isOver && state.count < most
        }
    }

    func historyHasChanged() { self.state.withLock { $0.mayHaveMore = true } }

    func add(_ page: EventPage) {
        self.state.withLock { state in
            state.cursor = page.end
            state.mayHaveMore = !page.isLast
            if state.isOver || page.events.isEmpty { return }
            state.pages.append(page.events[...])
            state.count += page.events.count
        }
        if let thread = self.thread { thread.wake() } else { self.news.continuation.yield() }
    }

    /// Ends a reader that closes, if it has all events or can't get them.
    ///
    /// A handler goes on until it has had all; for that `CircuitStore.close` waits.
    func endIfDone(isReadable: Bool) {
        let isDone = self.state.withLock { state in
            if !state.mayHaveMore || !isReadable { return true }
            guard self.thread == nil, state.count >= Self.mostAtEnd, let last = state.pages.last?.last else {
                return false
            }
            let reason = "the store was closed before later events were read"
            state.pages.append([.missed(reason, id: last.id, at: last.at)])
            return true
        }
        if isDone { self.end() }
    }
}

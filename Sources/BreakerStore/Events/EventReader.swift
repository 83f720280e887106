import Synchronization

/// A stream or a handler: its cursor in the history, and the events that were read ahead for it.
///
/// Readers with the same cursor share their pages.
final class EventReader: Sendable {
    private enum Next {
        case event(CircuitEvent)
        case notYet
        case end
    }

    private enum Phase {
        /// Becomes `closing` when the store closes, and `over` when the reader is cancelled.
        case reading
        /// The reader ends once it has all events.
        case closing
        /// No more events are read; those that were read are still delivered.
        case over
    }

    private struct State {
        var cursor: EventCursor
        /// Oldest first; none is empty.
        var pages: [ArraySlice<CircuitEvent>] = []
        var count = 0
        /// Whether the history may have events after the cursor.
        ///
        /// True at first: the header that is compared next may already be newer than the cursor.
        var mayHaveMore = true
        var phase = Phase.reading
    }

    /// Another page is read while fewer events than this wait.
    ///
    /// So up to twice as many are read ahead: a slow consumer gets them even if they are deleted from the file.
    private static let pageThreshold = 1_000
    /// The same for a stream when the store closes, because its consumer can't ask for more later.
    private static let pageThresholdAtEnd = 10_000

    private let feed: EventFeed
    private let state: Mutex<State>
    /// The thread of a handler, which may block; nil for a stream.
    private let thread: StoreThread?
    /// Wakes a consumer of a stream.
    private let wakeUps = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
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
                switch self.removeNext() {
                case .event(let event): handler(event)
                case .notYet: thread.sleep(until: nil)
                case .end: break loop
                }
            }
            self.ended.signal()
        }
        if !isStarted { self.end() }
    }

    /// Whether this process is a child of `fork`, which has no thread that reads.
    private var isForked: Bool { ForkRecord.isForked(since: self.forks) }

    // MARK: - For the consumer

    /// Waits for the next event; nil at the end, and in a child of `fork`.
    func next() async -> CircuitEvent? {
        while !self.isForked {
            switch self.removeNext() {
            case .event(let event):
                // For a second consumer that waits: it may have been woken only once for many events.
                self.wakeUps.continuation.yield()
                return event
            case .end: return nil
            case .notYet:
                if Task.isCancelled { return nil }
                for await _ in self.wakeUps.stream { break }
            }
        }
        return nil
    }

    /// Removes the next event; asks the feed for another page when half of the threshold is left.
    private func removeNext() -> Next {
        let (next, isLow): (Next, Bool) = self.state.withLock { state in
            guard let event = state.pages.first?.first else { return (state.phase == .over ? .end : .notYet, false) }
            state.pages[0].removeFirst()
            if state.pages[0].isEmpty { state.pages.removeFirst() }
            state.count -= 1
            return (.event(event), state.mayHaveMore && state.count == Self.pageThreshold / 2)
        }
        if isLow { self.feed.wake() }
        return next
    }

    /// Ends the reader.
    ///
    /// - Parameter isCancelled: whether to drop the events that were read ahead.
    func end(isCancelled: Bool = false) {
        if self.isForked { return }
        self.state.withLock { state in
            state.phase = .over
            if isCancelled { state.pages = [] }
        }
        self.feed.remove(self)
        self.wakeUps.continuation.finish()
        if let thread = self.thread { thread.wake() } else { self.ended.signal() }
    }

    /// Marks the reader to end once it has every event committed by now; the caller wakes the feed.
    func close() { self.state.withLock { if $0.phase == .reading { $0.phase = .closing } } }

    /// Waits until a closing reader has read all events, and a handler has had them.
    func waitForEnd(until deadline: Deadline) {
        // A wait consumes the signal, and another thread may wait, too.
        if self.ended.wait(for: deadline.remaining) { self.ended.signal() }
    }

    // MARK: - For the feed's thread

    var cursor: EventCursor { self.state.withLock { $0.cursor } }
    var isClosing: Bool { self.state.withLock { $0.phase == .closing } }

    /// Whether there may be events to read, and room for them.
    var wantsPage: Bool {
        self.state.withLock { state in
            let isClosingStream = state.phase == .closing && self.thread == nil
            let threshold = isClosingStream ? Self.pageThresholdAtEnd : Self.pageThreshold
            return state.mayHaveMore && state.phase != .over && state.count < threshold
        }
    }

    /// The history may have changed since the reader's last page.
    func setMayHaveMore() { self.state.withLock { $0.mayHaveMore = true } }

    func add(_ page: EventPage) {
        self.state.withLock { state in
            state.cursor = page.end
            state.mayHaveMore = !page.isLast
            if state.phase == .over || page.events.isEmpty { return }
            state.pages.append(page.events[...])
            state.count += page.events.count
        }
        if let thread = self.thread { thread.wake() } else { self.wakeUps.continuation.yield() }
    }

    /// Ends a closing reader, if it has all events or can't get them.
    ///
    /// A handler continues until it has had all of them; `CircuitStore.close` waits for that.
    func endIfDone(isReadable: Bool) {
        let isDone = self.state.withLock { state in
            if !state.mayHaveMore || !isReadable { return true }
            guard self.thread == nil, state.count >= Self.pageThresholdAtEnd, let last = state.pages.last?.last else {
                return false
            }
            let reason = "the store was closed before later events were read"
            state.pages.append([.missed(reason, id: last.id, at: last.at)])
            return true
        }
        if isDone { self.end() }
    }
}

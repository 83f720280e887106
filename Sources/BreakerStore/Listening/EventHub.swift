import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Hands events to its listeners, each event once and in order.
///
/// A listener that may delay other listeners has a hub of its own: a handler, which may block, and a stream that begins
/// in the past.
///
/// The hub's thread looks at the header of the wal-index ten times a second. When the header has changed, the thread
/// reads the history on from where it stopped, whichever process wrote the events. Without listeners there is no
/// thread.
final class EventHub: Sendable {
    /// A listener: a handler, or a stream with its buffer.
    final class Listener: Sendable {
        enum Target: Sendable {
            case handler(@Sendable (CircuitEvent) -> Void)
            case stream(AsyncStream<CircuitEvent>.Continuation)

            /// Whether a delivery may take as long as the user's code likes.
            var mayBlock: Bool {
                switch self {
                case .handler: true
                case .stream: false
                }
            }
        }

        /// The events that a slow reader has lost since it was last sent their number, and the newest of them.
        private struct Loss {
            var count: Int
            var newest: CircuitEvent
        }

        private let target: Target
        /// Read, then changed, under two lockings.
        ///
        /// That is safe, because only the hub's thread changes the value. It is needed, because the yield in between
        /// resumes the reader of the stream, which must not happen under a lock.
        private let loss = Mutex<Loss?>(nil)
        private let start: HistoryPosition?
        /// For a stream that begins in the past: the newest event when the stream began.
        ///
        /// Up to this event the hub waits for a slow reader; the reader may lose later events.
        private let newestAskedFor: Int64

        init(_ target: Target, from start: HistoryPosition?, upTo newestAskedFor: Int64 = .min) {
            self.target = target
            self.start = start
            self.newestAskedFor = newestAskedFor
        }

        /// Whether the event comes after the place where this listener begins.
        func wants(_ id: Int64, of file: UInt64) -> Bool {
            guard let start = self.start, start.file == file else { return true }
            return id > start.id
        }

        /// Hands over an event; false if the event must be handed over later.
        ///
        /// - Parameter count: how many events this one stands for: 1, or the number in a `.missed`.
        func deliver(_ event: CircuitEvent, standingFor count: Int = 1) -> Bool {
            switch self.target {
            case .handler(let handler): handler(event)
            case .stream(let continuation):
                self.sendLoss()
                if self.loss.withLock({ $0 == nil }) {
                    switch continuation.yield(event) {
                    case .enqueued, .terminated: return true
                    case .dropped: if event.id <= self.newestAskedFor { return false }
                    @unknown default: break
                    }
                }
                self.loss.withLock { loss in
                    let known = Int64(loss?.count ?? 0)
                    loss = Loss(count: Int(clamping: known.addingSaturating(Int64(count))), newest: event)
                }
            }
            return true
        }

        /// Sends the number of lost events, as soon as the stream has room again.
        func sendLoss() {
            guard case .stream(let continuation) = self.target, let known = self.loss.withLock({ $0 }) else { return }
            let missed = CircuitEvent.missed(known.count, id: known.newest.id, at: known.newest.at)
            if case .enqueued = continuation.yield(missed) { self.loss.withLock { $0 = nil } }
        }

        func finish() {
            switch self.target {
            case .handler: break
            case .stream(let continuation): continuation.finish()
            }
        }
    }

    private struct State {
        var listeners: [ObjectIdentifier: Listener] = [:]
        var thread: StoreThread?
        var waiters: [Signal] = []
    }

    private let state = Mutex(State())

    var listeners: [Listener] { self.state.withLock { Array($0.listeners.values) } }

    /// Adds a listener, and starts the thread if there is none.
    func add(_ listener: Listener, watch: @escaping @Sendable (StoreThread) -> Void) {
        let hasThread = self.state.withLock { state in
            state.listeners[ObjectIdentifier(listener)] = listener
            guard state.thread == nil else { return true }
            let thread = StoreThread()
            if thread.start({ watch(thread) }) { state.thread = thread }
            return state.thread != nil
        }
        // Without a thread the listener would wait forever.
        if !hasThread { self.remove(listener) }
    }

    func remove(_ listener: Listener) {
        let thread = self.state.withLock {
            $0.listeners[ObjectIdentifier(listener)] = nil
            return $0.thread
        }
        listener.finish()
        thread?.wake()
    }

    /// Wakes the thread, for there may be events to read.
    func wake() { self.state.withLock { $0.thread }?.wake() }

    /// Waits until all events that are committed by now have been handed over, or the deadline is over.
    func flush(until deadline: Deadline) {
        let done = Signal()
        let thread = self.state.withLock {
            if $0.thread != nil { $0.waiters.append(done) }
            return $0.thread
        }
        guard let thread else { return }
        thread.wake()
        _ = done.wait(for: deadline.remaining)
    }

    /// Takes the signals of the callers of `flush`; the thread takes them before it reads, and raises them afterwards.
    func takeWaiters() -> [Signal] {
        self.state.withLock { state in
            defer { state.waiters.removeAll() }
            return state.waiters
        }
    }

    /// Called by the thread, which must end if this is true: the hub has no listeners left.
    func endIfIdle() -> Bool {
        let waiters: [Signal]? = self.state.withLock { state in
            guard state.listeners.isEmpty else { return nil }
            state.thread = nil
            defer { state.waiters.removeAll() }
            return state.waiters
        }
        // A caller of `flush` that came in this moment has nothing to wait for.
        for waiter in waiters ?? [] { waiter.signal() }
        return waiters != nil
    }
}

extension EventHub {
    /// Hands over a part of the history, and the number of events that are gone from it.
    ///
    /// - Parameters:
    ///   - id: the event after which the part begins.
    ///   - file: the file that has the history.
    ///   - event: makes the event that listeners get.
    /// - Returns: where to go on, and whether a reader has no room for events that it has asked for. The rest is then
    ///   delivered again from there; no other listener gets an event twice, because such a reader is alone on its hub.
    static func deliver(
        _ page: Database.HistoryPage,
        after id: Int64,
        of file: UInt64,
        to listeners: [Listener],
        as event: (StoredEvent) -> CircuitEvent
    ) -> (last: Int64, isHeldUp: Bool) {
        func deliver(_ event: CircuitEvent, standingFor count: Int) -> Bool {
            var isDelivered = true
            for listener in listeners where listener.wants(event.id, of: file) {
                if !listener.deliver(event, standingFor: count) { isDelivered = false }
            }
            return isDelivered
        }
        var last = id
        for stored in page.events where stored.id > last {
            let gap = stored.id.subtractingSaturating(last).subtractingSaturating(1)
            let event = event(stored)
            // A process has pruned these events before this thread could read them.
            if gap > 0 {
                let lost = Int(clamping: gap)
                let missed = CircuitEvent.missed(lost, id: stored.id.subtractingSaturating(1), at: event.at)
                guard deliver(missed, standingFor: lost) else { return (last, true) }
                last = missed.id
            }
            guard deliver(event, standingFor: 1) else { return (last, true) }
            last = stored.id
        }
        // Rows that can't be read are passed over, too.
        return (max(last, page.last ?? last), false)
    }
}

extension CircuitEvent {
    static func missed(_ count: Int, id: Int64, at date: Date) -> CircuitEvent {
        CircuitEvent(
            id: id,
            circuit: nil,
            kind: .missed,
            at: date,
            from: nil,
            to: nil,
            reason: "\(count) \(count == 1 ? "event was" : "events were") lost",
            worker: nil,
            pid: nil,
            by: nil,
            isOwn: false
        )
    }
}

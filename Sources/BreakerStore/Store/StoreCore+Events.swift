import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Watches the history for the hub's listeners.
extension StoreCore {
    private static let watchInterval = Duration.milliseconds(100)

    /// Adds a listener, which is told of each event from now on.
    func listen(to target: EventHub.Listener.Target) -> EventHub.Listener {
        let start = self.newestEvent
        let listener = EventHub.Listener(target, from: start)
        self.hub.add(listener) { thread in self.watch(from: start, thread) }
        return listener
    }

    /// The work of the hub's thread: reads on where it stopped, whenever the header has changed.
    private func watch(from start: HistoryPosition?, _ thread: StoreThread) {
        var place = start
        var seen: Tag?
        while !self.hub.endIfIdle() {
            let waiters = self.hub.takeWaiters()
            let tag = self.currentTag
            if tag == nil || tag != seen {
                // One read brings a limited number of events, so the thread reads until none is left.
                while let next = self.deliverEvents(after: place) {
                    let isAll = next == place
                    place = next
                    seen = tag
                    if isAll { break }
                }
            }
            // The slow reader of a stream may have made room meanwhile.
            for listener in self.hub.listeners { listener.tellOfLoss() }
            for waiter in waiters { waiter.signal() }
            thread.sleep(for: Self.watchInterval)
        }
    }

    private var origin: HistoryPosition { self.answers.source.withLock { $0.origin } }

    private var currentTag: Tag? {
        self.answers.source.withLock { source in
            guard let tag = source.database?.connection.walIndex()?.tag(), tag.counts else { return nil }
            return tag
        }
    }

    private var newestEvent: HistoryPosition? {
        let file = self.origin.file
        let id = try? self.view { (database) throws(BreakerStoreError) in try database.newestEvent() }
        return id.map { HistoryPosition(file: file, id: $0) }
    }

    /// Reads and hands over what came after `place`; nil if the file can't be read just now.
    private func deliverEvents(after place: HistoryPosition?) -> HistoryPosition? {
        let origin = self.origin
        guard let place, place.file == origin.file else { return origin }
        let found = try? self.view { (database) throws(BreakerStoreError) in
            try database.snapshot { () throws(BreakerStoreError) in
                try self.clock.follow(database)
                return try database.events(after: place.id)
            }
        }
        guard let page = found else { return nil }
        let dates = self.clock.dates()
        var last = place.id
        for stored in page.events where stored.id > last {
            let gap = stored.id.subtractingSaturating(last).subtractingSaturating(1)
            let event = CircuitEvent(stored, self.answers.isOwn, dates)
            // A process has pruned these events before this thread could read them.
            if gap > 0 {
                let lost = Int(clamping: gap)
                let missed = CircuitEvent.missed(lost, id: stored.id.subtractingSaturating(1), at: event.at)
                self.tell(missed, standingFor: lost, of: place.file)
            }
            self.tell(event, standingFor: 1, of: place.file)
            last = stored.id
        }
        // Rows that can't be read are passed over, too.
        return HistoryPosition(file: place.file, id: max(last, page.last ?? last))
    }

    private func tell(_ event: CircuitEvent, standingFor count: Int, of file: UInt64) {
        for listener in self.hub.listeners where listener.wants(event.id, of: file) {
            listener.deliver(event, standingFor: count)
        }
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

import Synchronization

/// Watches the history for the listeners of hubs.
extension StoreCore {
    private static let watchInterval = Duration.milliseconds(100)

    func listen(to target: EventHub.Listener.Target, after id: CircuitEvent.ID?) -> Subscription {
        let newest = self.newestEvent
        let start = newest.map { newest in
            HistoryPosition(file: newest.file, id: id.map { $0 <= newest.id ? $0 : 0 } ?? newest.id)
        }
        let listener = EventHub.Listener(target, from: start, upTo: id == nil ? .min : newest?.id ?? .min)
        let hub = target.mayBlock || id != nil ? EventHub() : self.hub
        self.hubs.withLock { if !$0.contains(where: { $0 === hub }) { $0.append(hub) } }
        hub.add(listener) { thread in self.watch(hub, from: start, thread) }
        return Subscription(listener: listener, hub: hub)
    }

    func remove(_ subscription: Subscription) {
        subscription.hub.remove(subscription.listener)
        if subscription.hub !== self.hub { self.hubs.withLock { $0.removeAll { $0 === subscription.hub } } }
    }

    /// Wakes the hubs, for there may be events to read.
    func wakeHubs() {
        for hub in self.hubs.withLock({ $0 }) { hub.wake() }
    }

    /// The work of a hub's thread: whenever the header has changed, the thread reads on from where it stopped.
    private func watch(_ hub: EventHub, from start: HistoryPosition?, _ thread: StoreThread) {
        var place = start
        var seen: Tag?
        while !hub.endIfIdle() {
            let waiters = hub.takeWaiters()
            let tag = self.currentTag
            if tag == nil || tag != seen {
                // One read brings a limited number of events, so the thread reads until none is left.
                while let (next, isHeldUp) = self.deliverEvents(after: place, to: hub) {
                    let isAll = next == place
                    place = next
                    // The thread hands over the rest when the reader has made room.
                    if isHeldUp { break }
                    seen = tag
                    if isAll { break }
                }
            }
            // A slow reader of a stream may have made room meanwhile.
            for listener in hub.listeners { listener.sendLoss() }
            for waiter in waiters { waiter.signal() }
            thread.sleep(for: Self.watchInterval)
        }
    }

    private var origin: HistoryPosition { self.answers.source.withLock { $0.origin } }

    private var currentTag: Tag? {
        let read = try? self.answers.read { $0.connection.walIndex()?.tag() }
        guard let tag = read ?? nil, tag.counts else { return nil }
        return tag
    }

    private var newestEvent: HistoryPosition? {
        let file = self.origin.file
        let id = try? self.view { (database) throws(BreakerStoreError) in try database.newestEvent() }
        return id.map { HistoryPosition(file: file, id: $0) }
    }

    /// Reads and hands over the events after `place`; nil if the file can't be read now.
    ///
    /// - Returns: where to go on, and whether a reader has no room for events that it has asked for.
    private func deliverEvents(
        after place: HistoryPosition?, to hub: EventHub
    ) -> (next: HistoryPosition, isHeldUp: Bool)? {
        Hook.reached("events.reading")
        let origin = self.origin
        guard let place, place.file == origin.file else { return (origin, false) }
        let found = try? self.view { (database) throws(BreakerStoreError) in
            try database.snapshot { () throws(BreakerStoreError) in
                try self.clock.follow(database)
                return try database.events(after: place.id)
            }
        }
        guard let page = found else { return nil }
        let dates = self.clock.dates()
        // Listeners that were added during the read want the events that were committed during the read.
        let delivered = EventHub.deliver(page, after: place.id, of: place.file, to: hub.listeners) {
            CircuitEvent($0, self.answers.isOwn, dates)
        }
        return (HistoryPosition(file: place.file, id: delivered.last), delivered.isHeldUp)
    }
}

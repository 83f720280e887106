import FoundationEssentials
import Synchronization

/// Follows a file that a store only reads: each listener has a thread, which looks ten times a second whether the file
/// has changed.
final class FileFollower: EventSource {
    private struct State {
        /// Since when and why the file can't be read.
        var loss: (since: Date, error: BreakerStoreError)?
        var healthWatches: [(listener: HealthListener, hearing: Hearing)] = []
    }

    private static let watchInterval = Duration.milliseconds(100)
    /// So many events are read at once.
    private static let pageSize = 10_000

    private let file: StoreFile
    private let clock: any HostClock
    private let state = Mutex(State())

    init(_ file: StoreFile, _ clock: any HostClock) {
        self.file = file
        self.clock = clock
    }

    // MARK: - Health

    /// Whether the file can be read; reads it.
    var health: StoreHealth {
        do throws(BreakerStoreError) {
            try StoreView.ofFile(self.file, self.clock) { _ in }
            return self.health(nil)
        } catch {
            return self.health(error)
        }
    }

    /// The health after a look at the file.
    private func health(_ error: BreakerStoreError?) -> StoreHealth {
        let now = self.clock.wallTime
        return self.state.withLock { state in
            guard let error else {
                state.loss = nil
                return .healthy
            }
            let loss = state.loss ?? (since: now, error: error)
            state.loss = loss
            return .degraded(since: loss.since, error: loss.error)
        }
    }

    func add(_ listener: HealthListener, withPresent: Bool) {
        let health = self.health
        if withPresent { listener.add(health) } else { listener.know(health) }
        let hearing = Hearing(listener: EventHub.Listener(.handler { _ in }, from: nil), hub: EventHub())
        self.state.withLock { $0.healthWatches.append((listener, hearing)) }
        hearing.hub.add(hearing.listener) { thread in
            let watch = ChangeWatch(self.file, self.clock)
            while !hearing.hub.endIfIdle() {
                do throws(BreakerStoreError) {
                    if try watch.inspectIfChanged({ _, _ in }) != nil { listener.add(self.health(nil)) }
                } catch {
                    listener.add(self.health(error))
                }
                thread.sleep(for: Self.watchInterval)
            }
        }
    }

    func remove(_ listener: HealthListener) {
        let watches = self.state.withLock { $0.healthWatches.extract { $0.listener === listener } }
        for watch in watches { self.remove(watch.hearing) }
    }

    // MARK: - Events

    func listen(to target: EventHub.Listener.Target, after id: CircuitEvent.ID?) -> Hearing {
        let newest = try? StoreView.ofFile(self.file, self.clock) { (view) throws(BreakerStoreError) in
            try view.database.newestEvent()
        }
        let start = id.map { $0 <= newest ?? 0 ? $0 : 0 } ?? newest ?? 0
        let listener = EventHub.Listener(target, from: nil, upTo: id == nil ? .min : newest ?? .min)
        let hub = EventHub()
        hub.add(listener) { thread in self.watch(hub, listener, from: start, thread) }
        return Hearing(listener: listener, hub: hub)
    }

    func remove(_ hearing: Hearing) { hearing.hub.remove(hearing.listener) }

    private func watch(_ hub: EventHub, _ listener: EventHub.Listener, from start: Int64, _ thread: StoreThread) {
        let watch = ChangeWatch(self.file, self.clock)
        var last = start
        // A reader has no room for what it has asked for, or the file has more than one page.
        var isMore = false
        while !hub.endIfIdle() {
            let waiters = hub.takeWaiters()
            do throws(BreakerStoreError) {
                let known = last
                var found: (isAnotherFile: Bool, page: [CircuitEvent])?
                if isMore {
                    found = try StoreView.ofFile(self.file, self.clock) { (view) throws(BreakerStoreError) in
                        (false, try Self.page(view, after: known))
                    }
                } else {
                    found = try watch.inspectIfChanged { (inspection, isAnother) throws(BreakerStoreError) in
                        (isAnother, try Self.page(inspection.view, after: isAnother ? 0 : known))
                    }
                }
                if let found {
                    if found.isAnotherFile { last = 0 }
                    isMore = !Self.tell(found.page, to: listener, last: &last) || found.page.count == Self.pageSize
                }
            } catch {
                // The store's health says so; the next look may succeed.
            }
            // The slow reader of a stream may have made room meanwhile.
            listener.tellOfLoss()
            for waiter in waiters { waiter.signal() }
            thread.sleep(for: Self.watchInterval)
        }
    }

    /// The oldest events behind `id`, oldest first.
    private static func page(_ view: StoreView, after id: Int64) throws(BreakerStoreError) -> [CircuitEvent] {
        let dates = view.clock.dates()
        return try view.database.events(after: id, limit: Self.pageSize).events.map {
            CircuitEvent($0, view.isOwn, dates)
        }
    }

    /// Hands the events over; false if the reader has no room for one that it has asked for.
    private static func tell(_ events: [CircuitEvent], to listener: EventHub.Listener, last: inout Int64) -> Bool {
        for event in events where event.id > last {
            let gap = event.id.subtractingSaturating(last).subtractingSaturating(1)
            // A process has pruned these events before this thread could read them.
            if gap > 0 {
                let lost = Int(clamping: gap)
                let missed = CircuitEvent.missed(lost, id: event.id.subtractingSaturating(1), at: event.at)
                _ = listener.deliver(missed, standingFor: lost)
            }
            guard listener.deliver(event) else { return false }
            last = event.id
        }
        return true
    }
}

import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Watches a file that a store only reads: each listener has a thread, which checks for changes ten times a second.
final class FileFollower: EventSource {
    /// The findings of one watcher: since when and why the file can't be read.
    ///
    /// Each watcher has its own: two that read at the same time may find different things.
    private struct Findings {
        var loss: (since: Date, error: BreakerStoreError)?

        mutating func health(_ error: BreakerStoreError?, at now: Date) -> StoreHealth {
            guard let error else {
                self.loss = nil
                return .healthy
            }
            let loss = self.loss ?? (since: now, error: error)
            self.loss = loss
            return .degraded(since: loss.since, error: loss.error)
        }
    }

    private struct State {
        /// The findings of the property `health`.
        var findings = Findings()
        var healthWatches: [(listener: HealthListener, subscription: Subscription)] = []
    }

    private static let watchInterval = Duration.milliseconds(100)
    /// The part of the history that follows an event.
    private struct Part {
        let start: Int64
        let page: Database.HistoryPage
        let dates: (StoreTime) -> Date

        init(_ view: StoreView, after start: Int64) throws(BreakerStoreError) {
            self.start = start
            self.page = try view.database.events(after: start)
            self.dates = view.moment.date
        }
    }

    private let file: StoreFile
    private let clock: any HostClock
    private let state = Mutex(State())

    init(_ file: StoreFile, _ clock: any HostClock) {
        self.file = file
        self.clock = clock
    }

    // MARK: - Health

    /// Reads the file, and returns whether it can be read.
    var health: StoreHealth {
        var failure: BreakerStoreError?
        do throws(BreakerStoreError) {
            try StoreView.ofFile(self.file, self.clock) { _ in }
        } catch {
            failure = error
        }
        let now = self.clock.wallDate
        return self.state.withLock { [failure] in $0.findings.health(failure, at: now) }
    }

    func add(_ listener: HealthListener, withPresent: Bool) {
        let health = self.health
        if withPresent { listener.add(health) } else { listener.know(health) }
        let subscription = Subscription(listener: EventHub.Listener(.handler { _ in }, from: nil), hub: EventHub())
        self.state.withLock { $0.healthWatches.append((listener, subscription)) }
        subscription.hub.add(subscription.listener) { thread in
            let watch = ChangeWatch(self.file, self.clock)
            var findings = Findings()
            if case .degraded(let since, let error) = health { findings.loss = (since, error) }
            while !subscription.hub.endIfIdle() {
                do throws(BreakerStoreError) {
                    // A file that could be read once can be read again if it has not changed.
                    _ = try watch.inspectIfChanged { _, _ in }
                    listener.add(findings.health(nil, at: self.clock.wallDate))
                } catch {
                    listener.add(findings.health(error, at: self.clock.wallDate))
                }
                thread.sleep(for: Self.watchInterval)
            }
        }
    }

    func remove(_ listener: HealthListener) {
        let watches = self.state.withLock { $0.healthWatches.extract { $0.listener === listener } }
        for watch in watches { self.remove(watch.subscription) }
    }

    // MARK: - Events

    func listen(to target: EventHub.Listener.Target, after id: CircuitEvent.ID?) -> Subscription {
        let newest = try? StoreView.ofFile(self.file, self.clock) { (view) throws(BreakerStoreError) in
            try view.database.newestEvent()
        }
        let start = id.map { $0 <= newest ?? 0 ? $0 : 0 } ?? newest ?? 0
        let listener = EventHub.Listener(target, from: nil, upTo: id == nil ? .min : newest ?? .min)
        let hub = EventHub()
        hub.add(listener) { thread in self.watch(hub, listener, from: start, thread) }
        return Subscription(listener: listener, hub: hub)
    }

    func remove(_ subscription: Subscription) { subscription.hub.remove(subscription.listener) }

    private func watch(_ hub: EventHub, _ listener: EventHub.Listener, from start: Int64, _ thread: StoreThread) {
        let watch = ChangeWatch(self.file, self.clock)
        var last = start
        // Whether a stream had no room for all events, or the file may have more events than were read at once.
        var isMore = false
        while !hub.endIfIdle() {
            let waiters = hub.takeWaiters()
            do throws(BreakerStoreError) {
                let known = last
                var found: Part?
                if isMore {
                    found = try StoreView.ofFile(self.file, self.clock) { (view) throws(BreakerStoreError) in
                        try Part(view, after: known)
                    }
                } else {
                    found = try watch.inspectIfChanged { (view, isAnother) throws(BreakerStoreError) in
                        try Part(view, after: isAnother ? 0 : known)
                    }
                }
                if let found {
                    let delivered = EventHub.deliver(found.page, after: found.start, of: 0, to: [listener]) {
                        CircuitEvent($0, { _ in false }, found.dates)
                    }
                    last = delivered.last
                    isMore = delivered.isHeldUp || last != found.start
                }
            } catch {
                // The store's health reports the error; the next reading may succeed.
            }
            // The slow reader of a stream may have made room meanwhile.
            listener.sendLoss()
            for waiter in waiters { waiter.signal() }
            thread.sleep(for: Self.watchInterval)
        }
    }
}

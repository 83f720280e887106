import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Watches the file of a read-only store: polls it ten times a second, on one thread for all readers of events and on
/// one for each listener of health.
final class FileFollower: EventSource {
    /// The health as one watcher sees it: since when, and why, the file can't be read.
    ///
    /// Each watcher has its own: two that read at the same time may have different results.
    private struct WatchedHealth {
        var loss: (since: Date, error: BreakerStoreError)?

        /// Takes the result of a read, and returns the health after it.
        mutating func update(_ error: BreakerStoreError?, at now: Date) -> StoreHealth {
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
        /// For the property `health`.
        var watched = WatchedHealth()
        var healthWatches: [(listener: HealthListener, thread: StoreThread)] = []
    }

    private static let watchInterval = Duration.milliseconds(100)

    let feed = EventFeed()
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
        return self.state.withLock { [failure] in $0.watched.update(failure, at: now) }
    }

    func add(_ listener: HealthListener, withCurrent: Bool) {
        let health = self.health
        if withCurrent { listener.add(health) } else { listener.setCurrent(health) }
        let thread = StoreThread()
        self.state.withLock { $0.healthWatches.append((listener, thread)) }
        _ = thread.start {
            let watch = ChangeWatch(self.file, self.clock)
            var watched = WatchedHealth()
            if case .degraded(let since, let error) = health { watched.loss = (since, error) }
            while self.state.withLock({ $0.healthWatches.contains { $0.listener === listener } }) {
                do throws(BreakerStoreError) {
                    // A file that could be read before can still be read if it is unchanged.
                    _ = try watch.inspectIfChanged { _, _ in }
                    listener.add(watched.update(nil, at: self.clock.wallDate))
                } catch {
                    listener.add(watched.update(error, at: self.clock.wallDate))
                }
                thread.sleep(for: Self.watchInterval)
            }
        }
    }

    func remove(_ listener: HealthListener) {
        let watches = self.state.withLock { $0.healthWatches.extract { $0.listener === listener } }
        for watch in watches { watch.thread.wake() }
    }

    // MARK: - Events

    var origin: Int64 { 0 }

    func makeChangeDetector() -> () -> Bool {
        let watch = ChangeWatch(self.file, self.clock)
        return { (try? watch.inspectIfChanged { _, _ in }) != nil }
    }

    func inspect<Value>(
        _ body: (StoreView) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        try StoreView.ofFile(self.file, self.clock, body)
    }
}

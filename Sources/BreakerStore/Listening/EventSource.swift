/// The source of a store's events and health: a core that stores may share, or a `FileFollower`, where the store is
/// read-only.
protocol EventSource: AnyObject, Sendable {
    var health: StoreHealth { get }

    /// The readers of the events.
    var feed: EventFeed { get }

    /// The event after which a reader begins that was added while the file could not be read.
    var origin: Int64 { get }

    /// Makes a function that compares the header of the wal-index, and returns whether the file may have changed since
    /// its last call. One thread uses it.
    func makeComparison() -> () -> Bool

    /// Runs `body` with a view of the file.
    func inspect<Value>(_ body: (StoreView) throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value

    /// Reports the present health to the listener, unless the listener asks for changes alone, and then each change.
    func add(_ listener: HealthListener, withPresent: Bool)

    func remove(_ listener: HealthListener)
}

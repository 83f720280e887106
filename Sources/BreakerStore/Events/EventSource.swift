/// The source of a store's events and health: a core, or a `FileFollower` for a read-only store.
protocol EventSource: AnyObject, Sendable {
    var health: StoreHealth { get }

    /// The readers of the events.
    var feed: EventFeed { get }

    /// The event after which a reader begins if the file could not be read when it was added.
    var origin: Int64 { get }

    /// Makes a function that returns whether the file may have changed since its last call.
    ///
    /// It compares the header of the wal-index. Only one thread may call it.
    func makeChangeDetector() -> () -> Bool

    /// Runs `body` with a view of the file.
    func inspect<Value>(_ body: (StoreView) throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value

    /// Reports each change of the health from now on; first the current health, if `withCurrent`.
    func add(_ listener: HealthListener, withCurrent: Bool)

    func remove(_ listener: HealthListener)
}

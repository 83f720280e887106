/// The source of a store's events and health: a core that stores may share, or a `FileFollower`, where the store is
/// read-only.
protocol EventSource: AnyObject, Sendable {
    var health: StoreHealth { get }

    /// Adds a listener, which gets each event from now on.
    ///
    /// - Parameter id: the event after which to begin, instead of now. A number that the file has not reached belongs
    ///   to a file that is gone: then the listener gets all events of the present file.
    func listen(to target: EventHub.Listener.Target, after id: CircuitEvent.ID?) -> Subscription

    func remove(_ subscription: Subscription)

    /// Reports the present health to the listener, unless the listener asks for changes alone, and then each change.
    func add(_ listener: HealthListener, withPresent: Bool)

    func remove(_ listener: HealthListener)
}

/// A listener, and the hub that serves it.
struct Subscription: Sendable {
    let listener: EventHub.Listener
    let hub: EventHub
}

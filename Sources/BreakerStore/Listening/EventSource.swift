/// What tells a store of events and of its health: a core that it may share, or a look at a file that it only reads.
protocol EventSource: AnyObject, Sendable {
    var health: StoreHealth { get }

    /// Adds a listener, which is told of each event from now on.
    ///
    /// - Parameter id: the event behind which to begin, instead of now. A number that the file has not reached is that
    ///   of an event in a file that is gone: then the listener is told all that stands in this one.
    func listen(to target: EventHub.Listener.Target, after id: CircuitEvent.ID?) -> Hearing

    func remove(_ hearing: Hearing)

    /// Tells the listener of the health now, unless the listener asks for changes alone, and of each change.
    func add(_ listener: HealthListener, withPresent: Bool)

    func remove(_ listener: HealthListener)
}

/// Who listens, and which hub tells.
struct Hearing: Sendable {
    let listener: EventHub.Listener
    let hub: EventHub
}

import Synchronization

extension CircuitStore {
    private static let eventsBuffered = 1_000

    /// Each event of all processes from now on; events of other processes arrive within 100 ms.
    ///
    /// The stream buffers 1,000 events; events that a slow reader misses appear as one `.missed`. The stream ends when
    /// the store is closed; the stream of a closed store ends at once. A store that is `.readOnly` follows the file,
    /// too.
    /// - Parameter id: the event after which to begin, instead of now, so that an alerter that restarts skips none. A
    ///   slow reader misses no event between that event and now. If another file has taken the store's place since, and
    ///   has not reached this number, the stream begins with the oldest event.
    public func events(after id: CircuitEvent.ID? = nil) -> AsyncStream<CircuitEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CircuitEvent.self,
            bufferingPolicy: .bufferingOldest(Self.eventsBuffered)
        )
        guard (try? self.requireUsable()) != nil else {
            continuation.finish()
            return stream
        }
        let subscription = self.listen(to: .stream(continuation), after: id)
        continuation.onTermination = { [weak self] _ in self?.drop(subscription) }
        return stream
    }

    /// The health now, and each change as it happens.
    ///
    /// The stream keeps at most 1,000 unread changes, and drops the oldest. The stream ends when the store is closed,
    /// after `closed`; in a child of `fork` at once.
    public func healthChanges() -> AsyncStream<StoreHealth> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreHealth.self,
            bufferingPolicy: .bufferingNewest(Self.eventsBuffered)
        )
        guard (try? self.requireUsable()) != nil else {
            continuation.yield(self.health)
            continuation.finish()
            return stream
        }
        let listener = HealthListener({ continuation.yield($0) }, atEnd: { continuation.finish() })
        self.listen(listener, withPresent: true)
        continuation.onTermination = { [weak self] _ in self?.drop(listener) }
        return stream
    }

    /// Waits until the task is cancelled, then closes the store and returns: the shape of a ServiceLifecycle service.
    ///
    /// A graceful shutdown of a `ServiceGroup` cancels no task: a service calls this function within
    /// `cancelWhenGracefulShutdown`, as <doc:Recipes#ServiceLifecycle> shows. Throws nothing. Closing may take as long
    /// as `busyTimeout`, on a thread of its own.
    public func run() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            continuation.finish()
        }
        await withCheckedContinuation { done in
            let thread = StoreThread()
            let isStarted = thread.start {
                self.close()
                done.resume()
            }
            if !isStarted {
                self.close()
                done.resume()
            }
        }
    }

    // MARK: - For the library

    /// Sends each event to `target` until this store is closed.
    ///
    /// - Parameter id: the event after which to begin, instead of now.
    @discardableResult
    func listen(
        to target: EventHub.Listener.Target, after id: CircuitEvent.ID? = nil
    ) -> Subscription {
        let subscription = self.source.listen(to: target, after: id)
        let isClosed = self.state.withLock {
            if !$0.isClosed { $0.subscriptions.append(subscription) }
            return $0.isClosed
        }
        // The store was closed in the meantime: `leave` has not seen this subscription.
        if isClosed { self.source.remove(subscription) }
        return subscription
    }

    /// Sends the health to the listener until this store is closed.
    func listen(_ listener: HealthListener, withPresent: Bool) {
        self.source.add(listener, withPresent: withPresent)
        let isClosed = self.state.withLock {
            if !$0.isClosed { $0.healthListeners.append(listener) }
            return $0.isClosed
        }
        if isClosed { self.end(listener) }
    }

    /// Ends the listener with `closed`, whatever other stores on the file do.
    func end(_ listener: HealthListener) {
        self.source.remove(listener)
        listener.add(.closed)
        listener.finish()
    }

    func drop(_ listener: HealthListener) {
        if self.gate.isForked { return }
        self.state.withLock { $0.healthListeners.removeAll { $0 === listener } }
        self.source.remove(listener)
        listener.finish()
    }

    func drop(_ subscription: Subscription) {
        if self.gate.isForked { return }
        self.state.withLock { $0.subscriptions.removeAll { $0.listener === subscription.listener } }
        self.source.remove(subscription)
    }
}

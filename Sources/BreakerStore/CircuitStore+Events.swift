import Synchronization

extension CircuitStore {
    private static let maxChanges = 1_000

    /// Each event of all processes from now on; events of other processes arrive within 100 ms.
    ///
    /// The stream reads the history, up to 2,000 events ahead of its reader. Beyond those, a slow reader misses only
    /// events that the file no longer keeps (``Configuration/eventsKept``): they appear as one `.missed`. The stream
    /// ends when the store is closed or freed, after the events of before, of which about 10,000 are read. The stream
    /// of a closed store ends at once. A store that is `.readOnly` follows the file, too.
    ///
    /// If another file takes the store's place, the stream goes on with that file's oldest event. So it does after a
    /// `.missed` if the file returns to an earlier state, as by a restored backup.
    /// - Parameter id: the event after which to begin, instead of now, so that an alerter that restarts skips none. If
    ///   another file has taken the store's place since, and has not reached this number, the stream begins with the
    ///   oldest event.
    public func events(after id: CircuitEvent.ID? = nil) -> AsyncStream<CircuitEvent> {
        guard (try? self.requireUsable()) != nil else { return AsyncStream { nil } }
        let reader = self.listen(after: id)
        return AsyncStream {
            await reader.next()
        } onCancel: {
            reader.end(isCancelled: true)
        }
    }

    /// The health now, and each change as it happens.
    ///
    /// The stream keeps at most 1,000 unread changes, and drops the oldest. The stream ends when the store is closed,
    /// after `closed`; in a child of `fork` at once.
    public func healthChanges() -> AsyncStream<StoreHealth> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: StoreHealth.self,
            bufferingPolicy: .bufferingNewest(Self.maxChanges)
        )
        guard (try? self.requireUsable()) != nil else {
            continuation.yield(self.health)
            continuation.finish()
            return stream
        }
        let listener = HealthListener({ continuation.yield($0) }, atEnd: { continuation.finish() })
        self.listen(listener, withCurrent: true)
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

    /// Reads the events until this store is closed.
    ///
    /// - Parameters:
    ///   - handler: gets each event; nil for a stream.
    ///   - id: the event after which to begin, instead of now.
    @discardableResult
    func listen(
        handler: (@Sendable (CircuitEvent) -> Void)? = nil, after id: CircuitEvent.ID? = nil
    ) -> EventReader {
        let feed = self.source.feed
        let now = try? self.source.inspect { (view) throws(BreakerStoreError) in try view.cursor(after: id) }
        let reader = EventReader(feed, at: now ?? EventCursor(id: id), handler)
        feed.add(reader, of: ObjectIdentifier(self), reading: self.source)
        if id != nil { feed.wake() }
        // The store was closed in the meantime: `leave` has not seen this reader.
        if self.isClosed { reader.end() }
        return reader
    }

    /// Sends the health to the listener until this store is closed.
    func listen(_ listener: HealthListener, withCurrent: Bool) {
        self.source.add(listener, withCurrent: withCurrent)
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
}

import Synchronization

/// The store as the source of events for streams and handlers.
extension StoreCore: EventSource {
    var origin: Int64 { self.answers.source.withLock { $0.origin } }

    func makeChangeDetector() -> () -> Bool {
        var lastTag: Tag?
        return {
            Hook.reached("events.comparing")
            let found = try? self.answers.read { $0.connection.walIndex()?.tag() }
            let tag = (found ?? nil).flatMap { $0.isReliable ? $0 : nil }
            defer { lastTag = tag }
            // Without a tag that can be compared, the file may have changed.
            return tag == nil || tag != lastTag
        }
    }

    func inspect<Value>(_ body: (StoreView) throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value {
        try self.view { (database) throws(BreakerStoreError) in
            try StoreView.of(
                self.file, database, self.clock, isAlive: self.isAlive, isOwn: self.answers.isOwn, body)
        }
    }
}

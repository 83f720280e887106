import Synchronization

/// What the streams and handlers read.
extension StoreCore: EventSource {
    var origin: Int64 { self.answers.source.withLock { $0.origin } }

    func makeComparison() -> () -> Bool {
        var seen: Tag?
        return {
            Hook.reached("events.comparing")
            let found = try? self.answers.read { $0.connection.walIndex()?.tag() }
            let tag = (found ?? nil).flatMap { $0.counts ? $0 : nil }
            defer { seen = tag }
            return tag == nil || tag != seen
        }
    }

    func inspect<Value>(_ body: (StoreView) throws(BreakerStoreError) -> Value) throws(BreakerStoreError) -> Value {
        try self.view { (database) throws(BreakerStoreError) in
            try StoreView.of(
                self.file, database, self.clock, isAlive: self.isAlive, isOwn: self.answers.isOwn, body)
        }
    }
}

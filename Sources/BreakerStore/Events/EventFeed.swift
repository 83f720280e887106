import Synchronization

/// Reads the history for all streams and handlers of a file.
///
/// One thread reads for all of them. Ten times a second, and after a commit of this process, it compares the header of
/// the wal-index. When that has changed, it reads on from the cursor of each reader, once for all readers with the same
/// cursor. Without readers there is no thread.
final class EventFeed: Sendable {
    private struct Entry {
        /// Weak: nil once the consumer of a stream has dropped it.
        weak var reader: EventReader?
        let store: ObjectIdentifier
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var thread: StoreThread?
    }

    private static let interval = Duration.milliseconds(100)

    private let state = Mutex(State())

    /// Adds a reader, and starts the thread if there is none.
    ///
    /// - Parameter source: the same for all readers of this feed.
    func add(_ reader: EventReader, of store: ObjectIdentifier, reading source: any EventSource) {
        let hasThread = self.state.withLock { state in
            state.entries[ObjectIdentifier(reader)] = Entry(reader: reader, store: store)
            guard state.thread == nil else { return true }
            let thread = StoreThread()
            if thread.start({ self.run(thread, source) }) { state.thread = thread }
            return state.thread != nil
        }
        // Without a thread the reader would wait forever.
        if !hasThread { reader.end() }
    }

    /// Removes a reader; without any the thread ends.
    func remove(_ reader: EventReader) {
        self.state.withLock { $0.entries[ObjectIdentifier(reader)] = nil }
        self.wake()
    }

    /// The readers of one store.
    func readers(of store: ObjectIdentifier) -> [EventReader] {
        self.state.withLock { $0.entries.values.compactMap { $0.store == store ? $0.reader : nil } }
    }

    var isRunning: Bool { self.state.withLock { $0.thread != nil } }

    /// Wakes the thread, because there may be events to read.
    func wake() { self.state.withLock { $0.thread }?.wake() }

    /// Hands all events that are committed by now to the readers of one store, and ends the readers.
    func close(_ store: ObjectIdentifier, until deadline: Deadline) {
        // Repeats, to wait for a stream that begins during the wait, too.
        repeat {
            let readers = self.readers(of: store)
            if readers.isEmpty { return }
            for reader in readers { reader.close() }
            self.wake()
            for reader in readers { reader.waitForEnd(until: deadline) }
        } while !deadline.isOver
    }

    /// Forgets readers that are gone, and returns the others; if there are none, the caller's thread must end.
    private func liveReadersOrStop() -> [EventReader] {
        self.state.withLock { state in
            state.entries = state.entries.filter { $0.value.reader != nil }
            let readers = state.entries.values.compactMap(\.reader)
            if readers.isEmpty { state.thread = nil }
            return readers
        }
    }

    private func run(_ thread: StoreThread, _ source: any EventSource) {
        let detectChange = source.makeChangeDetector()
        while self.readAll(of: source, detectChange) { thread.sleep(for: Self.interval) }
    }

    /// Reads for all readers until each has all events, or enough of them; false if there are no readers.
    private func readAll(of source: any EventSource, _ detectChange: () -> Bool) -> Bool {
        while true {
            let readers = self.liveReadersOrStop()
            if readers.isEmpty { return false }
            // `isClosing` is read before the history, so this read includes every event committed before `close`.
            let closing = readers.filter(\.isClosing)
            for reader in detectChange() ? readers : closing { reader.setMayHaveMore() }
            let isReadable = self.read(source, for: readers.filter(\.wantsPage))
            for reader in closing { reader.endIfDone(isReadable: isReadable) }
            if !isReadable || !readers.contains(where: \.wantsPage) { return true }
        }
    }

    /// Reads a page for each reader; false if the file can't be read now.
    private func read(_ source: any EventSource, for readers: [EventReader]) -> Bool {
        for (cursor, readers) in Dictionary(grouping: readers, by: \.cursor) {
            Hook.reached("events.reading")
            let page = try? source.inspect { (view) throws(BreakerStoreError) in
                try view.events(after: cursor, from: source.origin)
            }
            guard let page else { return false }
            for reader in readers { reader.add(page) }
        }
        return true
    }
}

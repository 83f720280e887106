import Synchronization

/// The cores of this process, by file.
enum CoreRegistry {
    /// A file that stores of this process use.
    private struct Entry {
        let file: StoreFile
        var stores: Int
        var core: StoreCore?
        /// The threads that wait for the thread that opens the file; nil while no thread opens it.
        ///
        /// Only one thread opens a file at a time: two openings at once would be two workers.
        var waiting: [Signal]?
    }

    /// The open files of this process: one or a few, so an array will do.
    private final class Table: Sendable {
        let entries = Mutex<[Entry]>([], rank: .registry)
    }

    /// A child of `fork` has a table of its own: it must not use its parent's cores.
    private static let table = PerProcess { Table() }

    private enum Entrance {
        case open(StoreCore)
        case toOpen
        case wait(Signal)
    }

    /// The core of a file: the open core, or a new core that `open` makes.
    ///
    /// Waits only for a thread that opens the same file.
    static func join(
        _ file: StoreFile,
        _ configuration: CircuitStore.Configuration,
        opening open: () throws(BreakerStoreError) -> StoreCore
    ) throws(BreakerStoreError) -> StoreCore {
        self.count(on: file)
        do throws(BreakerStoreError) {
            while true {
                switch self.enter(file) {
                case .open(let core):
                    try configuration.requireShareable(with: core.configuration, path: file.path)
                    return core
                case .toOpen:
                    return try self.open(file, open)
                case .wait(let signal):
                    _ = signal.wait(for: .seconds(1_000_000))
                }
            }
        } catch {
            self.leave(file)
            throw error
        }
    }

    /// Shuts the core down when the last store has left it.
    static func leave(_ core: StoreCore) { self.leave(core.file) }

    private static func enter(_ file: StoreFile) -> Entrance {
        self.change(file) { entry in
            if let core = entry.core { return .open(core) }
            guard entry.waiting != nil else {
                entry.waiting = []
                return .toOpen
            }
            let signal = Signal()
            entry.waiting?.append(signal)
            return .wait(signal)
        } ?? .toOpen
    }

    /// Opens the file, then wakes the threads that wait: they share the core, or try to open the file themselves.
    private static func open(
        _ file: StoreFile,
        _ open: () throws(BreakerStoreError) -> StoreCore
    ) throws(BreakerStoreError) -> StoreCore {
        var core: StoreCore?
        defer {
            let waiting: [Signal]? = self.change(file) { entry in
                entry.core = core
                defer { entry.waiting = nil }
                return entry.waiting ?? []
            }
            for signal in waiting ?? [] { signal.signal() }
        }
        let opened = try open()
        core = opened
        return opened
    }

    private static func count(on file: StoreFile) {
        self.table.value.entries.withLock { entries in
            if let index = entries.firstIndex(where: { $0.file == file }) {
                entries[index].stores += 1
            } else {
                entries.append(Entry(file: file, stores: 1))
            }
        }
    }

    private static func change<Result: Sendable>(
        _ file: StoreFile,
        _ body: (inout Entry) -> Result
    ) -> Result? {
        self.table.value.entries.withLock { entries in
            entries.firstIndex { $0.file == file }.map { body(&entries[$0]) }
        }
    }

    private static func leave(_ file: StoreFile) {
        let left: StoreCore? = self.table.value.entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.file == file }) else { return nil }
            entries[index].stores -= 1
            return entries[index].stores == 0 ? entries.remove(at: index).core : nil
        }
        left?.shutDownSoon()
    }
}

import Synchronization

/// The cores of this process, by file.
enum CoreRegistry {
    /// An open file, and how many stores of this process use it.
    private struct Entry {
        let file: StoreFile
        let core: StoreCore
        var stores = 1
    }

    private struct State {
        /// One or a few, so an array will do.
        var entries: [Entry] = []
        /// The files that a thread opens: two openings of one file at once would be two workers.
        var opening: [StoreFile] = []
        /// The threads that wait for another thread that opens their file.
        var waiting: [Signal] = []
    }

    private final class Table: Sendable {
        let state = Mutex(State(), rank: .registry)
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
        while true {
            switch self.enter(file) {
            case .open(let core):
                do throws(BreakerStoreError) {
                    try configuration.requireShareable(with: core.configuration, path: file.path)
                } catch {
                    self.leave(core)
                    throw error
                }
                return core
            case .toOpen:
                // No lock is held: an opening asks the host's clock, which may be the user's code.
                defer { self.openingEnded(file) }
                let core = try open()
                self.table.value.state.withLock { $0.entries.append(Entry(file: file, core: core)) }
                return core
            case .wait(let signal):
                _ = signal.wait(for: .seconds(1_000_000))
            }
        }
    }

    private static func enter(_ file: StoreFile) -> Entrance {
        self.table.value.state.withLock { state in
            if let index = state.entries.firstIndex(where: { $0.file == file }) {
                state.entries[index].stores += 1
                return .open(state.entries[index].core)
            }
            if state.opening.contains(file) {
                let signal = Signal()
                state.waiting.append(signal)
                return .wait(signal)
            }
            state.opening.append(file)
            return .toOpen
        }
    }

    private static func openingEnded(_ file: StoreFile) {
        let waiting = self.table.value.state.withLock { state in
            state.opening.removeAll { $0 == file }
            defer { state.waiting.removeAll() }
            return state.waiting
        }
        for signal in waiting { signal.signal() }
    }

    /// Shuts the core down when the last store has left it.
    static func leave(_ core: StoreCore) {
        let isUnused = self.table.value.state.withLock { state in
            guard let index = state.entries.firstIndex(where: { $0.core === core }) else { return false }
            state.entries[index].stores -= 1
            if state.entries[index].stores > 0 { return false }
            state.entries.remove(at: index)
            return true
        }
        if isUnused { core.shutDownSoon() }
    }
}

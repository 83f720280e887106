import Synchronization

/// The open cores of this process, by file: each core counts the stores that use it.
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
        /// The files that some thread is opening: two openings of one file at once would make two workers.
        var opening: [StoreFile] = []
        /// The threads that wait for another thread to open their file.
        var waiting: [Signal] = []
    }

    private final class Table: Sendable {
        let state = Mutex(State(), rank: .registry)
    }

    /// A child of `fork` has a table of its own: it must not use its parent's cores.
    private static let table = PerProcess { Table() }

    private enum Claim {
        case open(StoreCore)
        /// The caller has claimed the opening.
        case mustOpen
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
            switch self.retainOrClaimOpening(file) {
            case .open(let core):
                do throws(BreakerStoreError) {
                    try configuration.requireShareable(with: core.configuration, path: file.path)
                } catch {
                    self.leave(core)
                    throw error
                }
                return core
            case .mustOpen:
                // No lock is held: an opening asks the host's clock, which may be the user's code.
                defer { self.endOpening(of: file) }
                let core = try open()
                self.table.value.state.withLock { $0.entries.append(Entry(file: file, core: core)) }
                return core
            case .wait(let signal):
                _ = signal.wait(for: .forever)
            }
        }
    }

    private static func retainOrClaimOpening(_ file: StoreFile) -> Claim {
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
            return .mustOpen
        }
    }

    private static func endOpening(of file: StoreFile) {
        let waiting = self.table.value.state.withLock { state in
            state.opening.removeAll { $0 == file }
            defer { state.waiting.removeAll() }
            return state.waiting
        }
        for signal in waiting { signal.signal() }
    }

    /// Releases a core; shuts it down when its last store has left.
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

import Synchronization

/// The cores of this process, by file.
enum CoreRegistry {
    /// A file that stores of this process use.
    ///
    /// One opening at a time: two at once on one file would be two workers.
    private final class Place: Sendable {
        let core = Mutex<StoreCore?>(nil)
    }

    private struct Entry {
        let file: StoreFile
        let place: Place
        var stores: Int
    }

    /// A process has one file open, or a few.
    private final class Table: Sendable {
        let entries = Mutex<[Entry]>([])
    }

    /// A child of `fork` has a table of its own: its parent's cores are not its to use, or to count the stores of.
    private static let table = PerProcess { Table() }

    /// The core of a file: the one that is open, or a new one.
    ///
    /// Others that open other files don't wait.
    static func join(
        _ file: StoreFile,
        _ configuration: CircuitStore.Configuration
    ) throws(BreakerStoreError) -> StoreCore {
        let place = self.enter(file)
        do throws(BreakerStoreError) {
            return try place.core.withLock { (core) throws(BreakerStoreError) in
                if let core {
                    try configuration.requireShareable(with: core.configuration, path: file.path)
                    return core
                }
                let opened = try StoreCore(file: file, configuration: configuration)
                core = opened
                return opened
            }
        } catch {
            _ = self.leave(file)
            throw error
        }
    }

    /// Shuts the core down when the last store has left it.
    static func leave(_ core: StoreCore) {
        if self.leave(core.file) { core.shutDownSoon() }
    }

    private static func enter(_ file: StoreFile) -> Place {
        self.table.value.entries.withLock { entries in
            if let index = entries.firstIndex(where: { $0.file == file }) {
                entries[index].stores += 1
                return entries[index].place
            }
            let place = Place()
            entries.append(Entry(file: file, place: place, stores: 1))
            return place
        }
    }

    /// Returns whether nobody is left there.
    private static func leave(_ file: StoreFile) -> Bool {
        self.table.value.entries.withLock { entries in
            guard let index = entries.firstIndex(where: { $0.file == file }) else { return false }
            entries[index].stores -= 1
            guard entries[index].stores == 0 else { return false }
            entries.remove(at: index)
            return true
        }
    }
}

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
        let place: Place
        var stores = 0
    }

    private static let entries = Mutex<[StoreFile: Entry]>([:])

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
                // A fork's child has its parent's table: those cores are not its own.
                if let core, !core.isForked { return core }
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
        self.entries.withLock {
            var entry = $0[file] ?? Entry(place: Place())
            entry.stores += 1
            $0[file] = entry
            return entry.place
        }
    }

    /// Returns whether nobody is left there.
    private static func leave(_ file: StoreFile) -> Bool {
        self.entries.withLock {
            guard let entry = $0[file] else { return false }
            $0[file] = entry.stores > 1 ? Entry(place: entry.place, stores: entry.stores - 1) : nil
            return entry.stores <= 1
        }
    }
}

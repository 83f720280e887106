import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a store stands on: a core that it may share with others of this process, or a file that it only reads.
struct Backend: Sendable {
    let file: StoreFile
    /// Nil where the store was opened to be read.
    let core: StoreCore?
    /// The directory that goes with the store.
    private let temporaryDirectory: String?

    init(
        path: String,
        configuration: CircuitStore.Configuration,
        fileSystem: FileSystem = FileSystem(),
        temporaryDirectory: String? = nil
    ) throws(BreakerStoreError) {
        try configuration.validate()
        self.temporaryDirectory = temporaryDirectory
        self.file = try StoreFile(resolving: path, on: fileSystem)
        switch configuration.access {
        case .readWrite, .existing:
            self.core = try CoreRegistry.join(self.file, configuration)
        case .readOnly:
            guard try Schema.recognise(self.file) == .store else {
                throw BreakerStoreError(
                    code: .notFound,
                    message: "there is no store to read; name another path",
                    path: self.file.path
                )
            }
            self.core = nil
        }
    }

    /// A store in a new directory of its own.
    static func temporary(_ configuration: CircuitStore.Configuration) throws(BreakerStoreError) -> Backend {
        let directory = try TemporaryDirectory.make()
        do throws(BreakerStoreError) {
            return try Backend(
                path: directory + "/circuits.db",
                configuration: configuration,
                temporaryDirectory: directory
            )
        } catch {
            TemporaryDirectory.remove(directory)
            throw error
        }
    }

    func removeTemporaryDirectory() {
        if let directory = self.temporaryDirectory { TemporaryDirectory.remove(directory) }
    }
}

/// The cores of this process, by file.
enum CoreRegistry {
    private struct Entry {
        var core: StoreCore
        var stores: Int
    }

    private static let entries = Mutex<[StoreFile: Entry]>([:])

    /// The core of a file: the one that is open, or a new one.
    ///
    /// One opening at a time in a process: two at once on one path would be two workers, and the lock is not a caller's
    /// of a protected operation.
    static func join(
        _ file: StoreFile,
        _ configuration: CircuitStore.Configuration
    ) throws(BreakerStoreError) -> StoreCore {
        try self.entries.withLock { (entries) throws(BreakerStoreError) in
            // A fork's child has its parent's table: those cores are not its own.
            if let entry = entries[file], !entry.core.isForked {
                entries[file]?.stores += 1
                return entry.core
            }
            let core = try StoreCore(file: file, configuration: configuration)
            entries[file] = Entry(core: core, stores: 1)
            return core
        }
    }

    /// Shuts the core down when the last store has left it.
    static func leave(_ core: StoreCore) {
        let isLast = self.entries.withLock {
            guard let entry = $0[core.file], entry.core === core else { return false }
            $0[core.file] = entry.stores > 1 ? Entry(core: core, stores: entry.stores - 1) : nil
            return entry.stores <= 1
        }
        if isLast { core.shutDownSoon() }
    }
}

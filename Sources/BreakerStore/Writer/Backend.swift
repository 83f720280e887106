/// The base of a store: a core that it may share with other stores of this process, or a file that it only reads.
struct Backend: Sendable {
    let file: StoreFile
    /// Nil where the store only reads the file.
    let core: StoreCore?
    /// The directory that is removed with a temporary store.
    private let temporaryDirectory: String?

    init(
        path: String,
        configuration: CircuitStore.Configuration,
        fileSystem: FileSystem = FileSystem(),
        temporaryDirectory: String? = nil
    ) throws(BreakerStoreError) {
        try configuration.validate()
        self.temporaryDirectory = temporaryDirectory
        let file: StoreFile
        var isForeseen = false
        do throws(BreakerStoreError) {
            file = try StoreFile(resolving: path, on: fileSystem)
        } catch {
            guard configuration.mayBeginDegraded(after: error) else { throw error }
            // Resolves the path as far as its directories exist; the core checks it once the directory is there.
            file = try StoreFile(foreseeing: path)
            isForeseen = true
        }
        self.file = file
        switch configuration.access {
        case .readWrite, .existing:
            self.core = try CoreRegistry.join(file, configuration) { () throws(BreakerStoreError) in
                try StoreCore(file: file, configuration: configuration, fileSystem, isForeseen: isForeseen)
            }
        case .readOnly:
            try HostBoot.requireID(of: configuration.clock)
            guard try OpeningFacts.isStore(self.file) else {
                throw BreakerStoreError(
                    code: .notFound,
                    message: "there is no store to read",
                    advice: "name another path",
                    path: self.file.path
                )
            }
            self.core = nil
        }
    }

    /// A store in a new directory of its own.
    static func temporary(_ configuration: CircuitStore.Configuration) throws(BreakerStoreError) -> Backend {
        let directory = try TemporaryDirectory.make()
        var configuration = configuration
        configuration.syncs = false
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

extension CircuitStore.Configuration {
    /// Whether a store may start on the in-memory fallback because its directory can't be opened.
    ///
    /// Never for a path that can't be a store's.
    fileprivate func mayBeginDegraded(after error: BreakerStoreError) -> Bool {
        guard self.access != .readOnly, self.whenUnavailable == .degrade else { return false }
        return [.notFound, .permissionDenied, .unavailable].contains(error.code)
    }
}

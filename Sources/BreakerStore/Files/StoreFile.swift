import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The resolved path of a store and the files beside it.
struct StoreFile: Sendable, Hashable {
    let path: String

    // Kept, since every commit checks whether these files are in place.
    let log: String
    let index: String
    let journal: String
    let lock: String
    let board: String
    /// Where the link to other hosts reports its state.
    var link: String { self.path + "-link" }

    var directory: String { Self.directory(of: self.path) }

    /// Resolves symbolic links, so that two names of one file are one store; throws if the path can't be a store.
    init(resolving given: String, on fileSystem: FileSystem = FileSystem()) throws(BreakerStoreError) {
        let path = try Self.resolve(given)
        // SQLite's own limit, which includes the endings of the files beside the database (os_unix.c, MAX_PATHNAME).
        guard path.utf8.count <= Self.longestPath else {
            throw BreakerStoreError(systemError: ENAMETOOLONG, doing: "open", path: path)
        }
        self.init(at: path)
        // The file itself may be a mount.
        if let kind = fileSystem.unsuitableKind(of: self.path) ?? fileSystem.unsuitableKind(of: self.directory) {
            throw BreakerStoreError(
                code: .unsupportedFileSystem,
                message: "the directory is on a \(kind) file system, whose locks and shared memory can't be relied on",
                advice: "put the store on a local disk",
                path: self.path
            )
        }
        try Self.requireSafe(self.path)
    }

    /// - Parameter path: must be resolved.
    init(at path: String) {
        self.path = path
        self.log = path + "-wal"
        self.index = path + "-shm"
        self.journal = path + "-journal"
        self.lock = path + "-lock"
        self.board = path + "-board"
    }

    private static let longestPath = 500
    /// The most bytes of a file that are read to learn whether the disk can read it: other processes wait meanwhile.
    static let mostToReadThrough: Int64 = 1 << 30

    private static func resolve(_ given: String) throws(BreakerStoreError) -> String {
        guard !given.isEmpty, !given.utf8.contains(0) else {
            throw BreakerStoreError(
                code: .invalidConfiguration,
                message: "path is \(given.isEmpty ? "empty" : "cut by a zero byte")",
                advice: "name a file"
            )
        }
        var path = given
        // The link's target may not exist yet, so links are followed by hand, as often as the kernel would.
        for _ in 0..<40 {
            guard !path.hasSuffix("/") else { throw Self.directoryError(given) }
            let slash = path.lastIndex(of: "/")
            let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
            let parent = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
            guard let directory = Self.realPath(parent) else {
                throw BreakerStoreError(systemError: errno, doing: "open the directory of", path: given)
            }
            guard name != ".", name != ".." else { throw Self.directoryError(given) }
            let candidate = directory == "/" ? "/" + name : directory + "/" + name
            guard let target = SmallFile.target(ofLink: candidate) else { return candidate }
            try Self.requireFollowable(candidate)
            path = target.hasPrefix("/") ? target : directory + "/" + target
        }
        throw BreakerStoreError(systemError: ELOOP, doing: "resolve", path: given)
    }

    static func realPath(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    static func requireReadable(_ path: String) throws(BreakerStoreError) {
        guard unsafe access(path, R_OK) == 0 else {
            throw BreakerStoreError(systemError: errno, doing: "read", path: path)
        }
    }

    /// Syncs new names, renamings and removals in the directory to the disk.
    ///
    /// fsync(2): "Calling fsync() does not necessarily ensure that the entry in the directory containing the file has
    /// also reached disk."
    func syncDirectory() {
        let descriptor = unsafe bs_open(self.directory, O_RDONLY | O_DIRECTORY, 0)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    /// The size of the database at `path` and its log together.
    static func bytes(at path: String) -> Int64 { (Self.size(path) ?? 0) + (Self.size(path + "-wal") ?? 0) }

    /// The size of the file at `path`, or nil if there is none.
    static func size(_ path: String) -> Int64? { FoundFile(path)?.size }
}

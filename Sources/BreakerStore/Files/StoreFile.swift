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

    // Stored properties, since every commit checks whether these files are in place.
    let log: String
    let index: String
    let journal: String
    let lock: String
    let board: String
    /// Where the link to other hosts reports its state.
    var link: String { self.path + "-link" }

    /// The endings that the names of the files beside a store add to its own.
    static let endings = ["-wal", "-shm", "-journal", "-lock", "-board", "-link"]

    var directory: String { Self.directory(of: self.path) }

    /// Resolves symbolic links, so that two names of one file are one store; throws if the path can't be a store.
    init(resolving given: String, on fileSystem: FileSystem = FileSystem()) throws(BreakerStoreError) {
        let path = try Self.resolve(given)
        try Self.requireShort(path)
        self.init(at: path)
        try self.requireSuitable(fileSystem)
        try Self.requireSafe(self.path)
    }

    /// The file that a store will have once its directory is there.
    ///
    /// A relative path is below the current working directory. Follows the symbolic links that are there, and takes
    /// each missing name for a directory that will be made; `requireDirectory` checks later whether that was right.
    init(foreseeing given: String) throws(BreakerStoreError) {
        guard let name = given.split(separator: "/", omittingEmptySubsequences: false).last,
            name != "", name != ".", name != ".."
        else { throw Self.directoryError(given) }
        var path = ""
        if !given.hasPrefix("/") {
            guard let directory = Self.realPath(".") else {
                throw BreakerStoreError(systemError: errno, doing: "find the working directory for", path: given)
            }
            path = directory == "/" ? "" : directory
        }
        var names = Array(given.split(separator: "/").reversed())
        var links = 0
        while let name = names.popLast() {
            if name == "." { continue }
            if name == ".." {
                path = Self.directory(of: path)
                if path == "/" { path = "" }
                continue
            }
            let candidate = "\(path)/\(name)"
            guard let target = SmallFile.target(ofLink: candidate) else {
                path = candidate
                continue
            }
            links += 1
            guard links <= Self.maxLinks else {
                throw BreakerStoreError(systemError: ELOOP, doing: "resolve", path: given)
            }
            try Self.requireFollowable(candidate)
            if target.hasPrefix("/") { path = "" }
            names += target.split(separator: "/").reversed()
        }
        guard !path.isEmpty else { throw Self.directoryError(given) }
        try Self.requireShort(path)
        self.init(at: path)
    }

    /// Throws unless the directory is there, at the path that was resolved or foreseen.
    func requireDirectory(on fileSystem: FileSystem) throws(BreakerStoreError) {
        guard let directory = Self.realPath(self.directory) else {
            throw BreakerStoreError(systemError: errno, doing: "open the directory of", path: self.path)
        }
        guard directory == self.directory else {
            throw BreakerStoreError(
                code: .unsafePath,
                message: "the directory of '\(self.path)' is '\(directory)' now, through a symbolic link that was not "
                    + "there when the store was opened",
                advice: "restart the process, or make a directory in place of the link", path: self.path)
        }
        try self.requireSuitable(fileSystem)
    }

    private func requireSuitable(_ fileSystem: FileSystem) throws(BreakerStoreError) {
        // The file itself may be a mount.
        guard let kind = fileSystem.unsuitableKind(of: self.path) ?? fileSystem.unsuitableKind(of: self.directory)
        else { return }
        throw BreakerStoreError(
            code: .unsupportedFileSystem,
            message: "the directory is on a \(kind) file system, whose locks and shared memory can't be relied on",
            advice: "put the store on a local disk",
            path: self.path
        )
    }

    /// Throws for a path that is longer than SQLite takes, with the endings of the files beside the database
    /// (os_unix.c, MAX_PATHNAME).
    private static func requireShort(_ path: String) throws(BreakerStoreError) {
        guard path.utf8.count <= Self.longestPath else {
            throw BreakerStoreError(systemError: ENAMETOOLONG, doing: "open", path: path)
        }
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
    /// The kernel follows as many symbolic links on the way to a file (path_resolution(7)).
    private static let maxLinks = 40
    /// The most bytes of a file that are read to learn whether the disk can read it: other processes wait for that.
    static let maxToReadThrough: Int64 = 1 << 30

    private static func resolve(_ given: String) throws(BreakerStoreError) -> String {
        guard !given.isEmpty, !given.utf8.contains(0) else {
            throw BreakerStoreError(
                code: .invalidConfiguration,
                message: "path is \(given.isEmpty ? "empty" : "cut by a zero byte")",
                advice: "name a file"
            )
        }
        var path = given
        // The link's target may not exist yet, so links are followed by hand.
        for _ in 0..<Self.maxLinks {
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

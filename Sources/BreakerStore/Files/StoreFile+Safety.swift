#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(SwiftOverlayShims)
// Beside `import Synchronization` in another file, the compiler takes it for the module that defines `timespec`'s
// fields.
import SwiftOverlayShims
#endif

/// Checks the files at the five names of a store, and their owners.
extension StoreFile {
    /// The endings of the five names; the first is the database's own.
    private static let endings = ["", "-wal", "-shm", "-journal", "-lock"]

    /// Throws `unsafePath` unless nothing, or a regular file with one name that nobody foreign made, is at each of the
    /// names.
    ///
    /// Asked before each opening, for what was right a moment ago may have been replaced. A path that is not absolute
    /// is no file's, but that of a database in memory.
    static func requireSafe(_ path: String) throws(BreakerStoreError) {
        guard path.hasPrefix("/") else { return }
        for ending in Self.endings { try Self.requireSafe(path, ending) }
    }

    /// Throws unless nothing, or such a file, is at the path of a board.
    ///
    /// A store can do without the board: nobody asks before the board is opened.
    static func requireSafeBoard(_ path: String) throws(BreakerStoreError) {
        let ending = "-board"
        try Self.requireSafe(path.hasSuffix(ending) ? String(path.dropLast(ending.count)) : path, ending)
    }

    private static func requireSafe(_ path: String, _ ending: String) throws(BreakerStoreError) {
        let name = path + ending
        var info = stat()
        guard unsafe lstat(name, &info) == 0 else {
            if errno == ENOENT { return }
            throw BreakerStoreError(systemError: errno, doing: "look at", path: name)
        }
        let isDatabase = ending.isEmpty
        switch info.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR where isDatabase: throw Self.directoryError(name)
        // A link or a device would lead somebody else to other locks or another log.
        case let kind:
            let word = kind == S_IFLNK ? "a symbolic link" : kind == S_IFDIR ? "a directory" : "not a regular file"
            throw Self.refusal(
                name, "it is \(word)",
                isDatabase ? "remove it or name another path" : "remove it and leave the database as it is")
        }
        guard info.st_nlink <= 1 else {
            throw Self.refusal(
                name,
                "the file has \(info.st_nlink) hard links, and each name would have \(isDatabase ? "a log" : "a store") "
                    + "of its own",
                isDatabase ? "remove the others or copy the file" : "remove its other names")
        }
        guard info.st_uid == geteuid() || info.st_uid == 0 else { return try Self.requireOwner(info.st_uid, of: name) }
    }

    /// In a directory that everybody may write to, a file of somebody else's may be there to mislead this process.
    ///
    /// Elsewhere only the directory's owner and its group make files: whoever gave them the directory trusts them with
    /// the store, as `SharingAStore` says. Groups count for nothing where everybody writes: in a directory with the
    /// setgid bit each file is of the directory's group, whoever makes it.
    private static func requireOwner(_ owner: uid_t, of name: String) throws(BreakerStoreError) {
        let directory = Self.directory(of: name)
        guard let host = Self.ownerIfOpenToAll(directory), host != owner else { return }
        throw Self.refusal(
            name,
            "it belongs to user \(owner), and everybody may write to '\(directory)'",
            "act as that user if it is that user's store, else remove it or keep the store in a directory of its own")
    }

    /// Follows a link only as the kernel does with `fs.protected_symlinks` set (proc_sys_fs(5)), whether it is set or
    /// not: in a directory that everybody may write to, only if it is this user's or the directory's owner's.
    ///
    /// The caller asks after reading the link: only the users whose links are followed could have replaced the link in
    /// between.
    static func requireFollowable(_ link: String) throws(BreakerStoreError) {
        var info = stat()
        guard unsafe lstat(link, &info) == 0, info.st_mode & S_IFMT == S_IFLNK else {
            throw BreakerStoreError(systemError: EAGAIN, doing: "resolve", path: link)
        }
        guard info.st_uid != geteuid() else { return }
        let directory = Self.directory(of: link)
        guard let host = Self.ownerIfOpenToAll(directory), host != info.st_uid else { return }
        throw Self.refusal(
            link,
            "it is a symbolic link of user \(info.st_uid), and everybody may write to '\(directory)'",
            "name the file itself, or remove the link")
    }

    /// The owner of a directory that everybody may write to; nil of another.
    private static func ownerIfOpenToAll(_ directory: String) -> uid_t? {
        var info = stat()
        guard unsafe stat(directory, &info) == 0, info.st_mode & S_IWOTH != 0 else { return nil }
        return info.st_uid
    }

    static func directory(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    static func directoryError(_ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .unsafePath, message: "it is a directory", advice: "name a file in it", path: path)
    }

    private static func refusal(_ path: String, _ what: String, _ advice: String) -> BreakerStoreError {
        BreakerStoreError(code: .unsafePath, message: "cannot use '\(path)': \(what)", advice: advice, path: path)
    }
}

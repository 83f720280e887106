#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
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
        guard let found = try FoundFile.itself(at: name) else { return }
        let directory = found.isForeign(to: geteuid()) ? FoundFile(Self.directory(of: name)) : nil
        let refusal = found.refusal(name, isDatabase: ending.isEmpty, user: geteuid(), in: directory)
        if let refusal { throw refusal }
    }

    /// Follows a link only as the kernel does with `fs.protected_symlinks` set (proc_sys_fs(5)), whether it is set or
    /// not: in a directory that everybody may write to, only if it is this user's or the directory's owner's.
    ///
    /// The caller asks after reading the link: only the users whose links are followed could have replaced the link in
    /// between.
    static func requireFollowable(_ link: String) throws(BreakerStoreError) {
        guard let found = try FoundFile.itself(at: link), found.kind == .link else {
            throw BreakerStoreError(systemError: EAGAIN, doing: "resolve", path: link)
        }
        let directory = Self.directory(of: link)
        guard found.owner != geteuid(), FoundFile(directory)?.isOpen(toOthersThan: found.owner) == true else { return }
        throw Self.refusal(
            link,
            "it is a symbolic link of user \(found.owner), and everybody may write to '\(directory)'",
            "name the file itself, or remove the link")
    }

    static func directory(of path: String) -> String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    static func directoryError(_ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .unsafePath, message: "it is a directory", advice: "name a file in it", path: path)
    }

    fileprivate static func refusal(_ path: String, _ what: String, _ advice: String) -> BreakerStoreError {
        BreakerStoreError(code: .unsafePath, message: "cannot use '\(path)': \(what)", advice: advice, path: path)
    }
}

extension FoundFile {
    func isForeign(to user: UInt32) -> Bool { self.owner != user && self.owner != 0 }

    /// Whether it is a directory that everybody may write to, and not this user's.
    func isOpen(toOthersThan user: UInt32) -> Bool { self.permissions & 0o002 != 0 && self.owner != user }

    /// Why a process of `user` may not use this file as one of a store; nil if it may.
    ///
    /// In a directory that everybody may write to, a file of somebody else's may be there to mislead the process.
    /// Elsewhere only the directory's owner and its group make files: whoever gave them the directory trusts them with
    /// the store, as `SharingAStore` says. Groups count for nothing where everybody writes: in a directory with the
    /// setgid bit each file is of the directory's group, whoever makes it.
    func refusal(
        _ path: String, isDatabase: Bool, user: UInt32, in directory: FoundFile?
    ) -> BreakerStoreError? {
        switch self.kind {
        case .regular: break
        case .directory where isDatabase: return StoreFile.directoryError(path)
        // A link or a device would lead somebody else to other locks or another log.
        case .link, .directory, .other:
            let others = self.kind == .directory ? "a directory" : "not a regular file"
            let word = self.kind == .link ? "a symbolic link" : others
            return StoreFile.refusal(
                path, "it is \(word)",
                isDatabase ? "remove it or name another path" : "remove it and leave the database as it is")
        }
        guard self.links <= 1 else {
            return StoreFile.refusal(
                path,
                "the file has \(self.links) hard links, and each name would have \(isDatabase ? "a log" : "a store") "
                    + "of its own",
                isDatabase ? "remove the others or copy the file" : "remove its other names")
        }
        guard self.isForeign(to: user), directory?.isOpen(toOthersThan: self.owner) == true else { return nil }
        return StoreFile.refusal(
            path,
            "it belongs to user \(self.owner), and everybody may write to '\(StoreFile.directory(of: path))'",
            "act as that user if it is that user's store, else remove it or keep the store in a directory of its own")
    }
}

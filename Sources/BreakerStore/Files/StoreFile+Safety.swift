#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Checks the files at five paths of a store, and their owners.
///
/// The board is checked where it is opened. The note of a link (`-link`) decides nothing.
extension StoreFile {
    /// Throws if one of the five paths has something else than a regular file, or a file that has a second name or that
    /// another user can have put there.
    ///
    /// A database in memory has no absolute path, and needs no check.
    static func requireSafe(_ path: String) throws(BreakerStoreError) {
        guard path.hasPrefix("/") else { return }
        let file = StoreFile(at: path)
        for name in [file.path, file.log, file.index, file.journal, file.lock] {
            try Self.requireSafe(name: name, isDatabase: name == path)
        }
    }

    /// Throws unless the path has no file, or a safe one.
    static func requireSafe(name: String, isDatabase: Bool) throws(BreakerStoreError) {
        guard let found = try FoundFile.itself(at: name) else { return }
        let directory = found.isForeign(to: geteuid()) ? FoundFile(Self.directory(of: name)) : nil
        if let refusal = found.refusal(name, isDatabase: isDatabase, user: geteuid(), in: directory) { throw refusal }
    }

    /// Throws unless a symbolic link may be followed: in a directory that everybody may write to, only a link of this
    /// user or of the directory's owner may.
    ///
    /// The kernel has the same rule if `fs.protected_symlinks` is set (proc_sys_fs(5)). Call this after readlink(2): a
    /// link that replaces the first in between passes only if its owner is allowed anyway.
    static func requireFollowable(_ link: String) throws(BreakerStoreError) {
        guard let found = try FoundFile.itself(at: link), found.kind == .link else {
            throw BreakerStoreError(systemError: EAGAIN, doing: "resolve", path: link)
        }
        let directory = Self.directory(of: link)
        guard found.owner != geteuid(), FoundFile(directory)?.isOpenToAll(notOf: found.owner) == true else { return }
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
    /// Whether neither `user` nor root owns the file.
    func isForeign(to user: UInt32) -> Bool { self.owner != user && self.owner != 0 }

    /// Whether this directory is one that everybody may write to and that `user` does not own.
    func isOpenToAll(notOf user: UInt32) -> Bool { self.permissions & 0o002 != 0 && self.owner != user }

    /// Why a process of `user` may not use this file as one of a store's files; nil if it may.
    ///
    /// In a directory that everybody may write to, another user may have put the file there to mislead the process.
    /// Elsewhere only the directory's owner and its group make files, and they are trusted with the store
    /// (`SharingAStore`). The file's group proves nothing: a directory with the setgid bit gives all files its group.
    func refusal(
        _ path: String, isDatabase: Bool, user: UInt32, in directory: FoundFile?
    ) -> BreakerStoreError? {
        switch self.kind {
        case .regular: break
        case .directory where isDatabase: return StoreFile.directoryError(path)
        // A symbolic link or a device would lead another process to other locks or another log.
        case .other where isDatabase: return StoreFile.refusal(path, "it is not a regular file", "name another path")
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
                isDatabase ? "keep one name, or copy the file" : "remove its other names")
        }
        guard self.isForeign(to: user), directory?.isOpenToAll(notOf: self.owner) == true else { return nil }
        return StoreFile.refusal(
            path,
            "it belongs to user \(self.owner), and everybody may write to '\(StoreFile.directory(of: path))'",
            "act as that user if it is that user's store, else remove it or keep the store in a directory of its own")
    }
}

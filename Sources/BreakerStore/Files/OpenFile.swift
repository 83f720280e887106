import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An open regular file, closed when it goes out of scope; any process may have made it.
///
/// Never used for the database: when any descriptor of a file is closed, POSIX drops all locks that this process has on
/// the file, so SQLite would lose its locks on the database. SQLite has no locks on the log and the journal.
struct OpenFile: ~Copyable {
    let descriptor: Int32

    /// Opens a regular file, follows no symbolic link, and never waits; nil, with `errno`, on failure.
    ///
    /// `O_NONBLOCK` changes nothing for a regular file; without it open(2) of a pipe would wait for the other end.
    init?(_ path: String, _ flags: Int32, _ mode: mode_t = 0) {
        let descriptor = unsafe bs_open(path, flags | O_NOFOLLOW | O_NONBLOCK, UInt32(mode))
        guard descriptor >= 0 else { return nil }
        guard FoundFile(descriptor: descriptor)?.kind == .regular else {
            close(descriptor)
            // The error of open(2) for a socket.
            errno = ENXIO
            return nil
        }
        self.descriptor = descriptor
    }

    /// Another descriptor of an open file, which no program inherits; nil, with `errno`, on failure.
    init?(duplicating descriptor: Int32) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return nil }
        self.descriptor = copy
    }

    deinit { close(self.descriptor) }

    /// Hands the descriptor to the caller, which must close it.
    consuming func detachDescriptor() -> Int32 {
        let descriptor = self.descriptor
        discard self
        return descriptor
    }

    /// Reads up to `count` bytes, fewer if the file ends before; nil, with `errno`, on failure.
    func read(_ count: Int, at offset: Int64 = 0) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let readCount = unsafe pread(self.descriptor, &bytes, count, off_t(offset))
        guard readCount >= 0 else { return nil }
        // Not `Array(bytes.prefix(readCount))`: if the caller drops the bytes, the optimizer of Swift 6.3.1 frees that
        // copy before it is filled.
        bytes.removeLast(count - readCount)
        return bytes
    }

    /// Writes all the bytes at the file's beginning; false, with `errno`, if they could not all be written.
    func write(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= Self.refreshSizeLimit() else {
            errno = EFBIG
            return false
        }
        return unsafe pwrite(self.descriptor, bytes, bytes.count, 0) == bytes.count
    }

    /// Reads the most bytes that this process may give a file (`RLIMIT_FSIZE`), and stores the number for the VFS.
    ///
    /// The VFS compares each of SQLite's writes with the stored number (limits.h).
    @discardableResult static func refreshSizeLimit() -> Int64 { bs_refresh_size_limit() }

    /// Gives a file that this process has made this mode and owner, those of the database beside it.
    ///
    /// The umask may have removed bits, but the database's owner and group must be able to open the file. Only root can
    /// change the owner.
    func change(mode: mode_t, owner: (user: uid_t, group: gid_t)?) {
        fchmod(self.descriptor, mode)
        if let owner { _ = fchown(self.descriptor, geteuid() == 0 ? owner.user : uid_t.max, owner.group) }
    }
}

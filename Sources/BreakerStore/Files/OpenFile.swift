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
/// Never the database: when any descriptor of a file is closed, POSIX drops all locks that this process has on the
/// file, so SQLite would lose its locks on the database. On log and journal SQLite has no locks.
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

    deinit { close(self.descriptor) }

    /// Hands the descriptor to the caller, which must close it.
    consuming func kept() -> Int32 {
        let descriptor = self.descriptor
        discard self
        return descriptor
    }

    /// Reads up to `count` bytes, fewer if the file ends before; nil, with `errno`, on failure.
    func read(_ count: Int, at place: Int64 = 0) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = unsafe pread(self.descriptor, &bytes, count, off_t(place))
        guard found >= 0 else { return nil }
        // Not `Array(bytes.prefix(found))`: if the caller drops the bytes, the optimizer of Swift 6.3.1 frees that copy
        // before it is filled.
        bytes.removeLast(count - found)
        return bytes
    }

    /// Writes all the bytes at the file's beginning; false, with `errno`, if they could not all be written.
    func write(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= Self.sizeLimit else {
            errno = EFBIG
            return false
        }
        return unsafe pwrite(self.descriptor, bytes, bytes.count, 0) == bytes.count
    }

    /// The most bytes that this process may give a file (limits.h).
    ///
    /// Asks the kernel, and stores the answer where the VFS looks before each of SQLite's writes: reading this property
    /// has that effect.
    static var sizeLimit: Int64 { bs_look_at_size_limit() }

    /// Gives a file that this process has made the mode and the owner of the database beside it.
    ///
    /// The umask may have removed bits, but the database's owner and group must be able to open the file. Only root can
    /// change the owner.
    func take(mode: mode_t, owner: (user: uid_t, group: gid_t)?) {
        fchmod(self.descriptor, mode)
        if let owner { _ = fchown(self.descriptor, geteuid() == 0 ? owner.user : uid_t.max, owner.group) }
    }
}

import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A regular file that is open, whoever has made it; closed when it goes out of scope.
///
/// Never the database: where any descriptor of a file is closed, POSIX drops all locks that this process has on the
/// file, and SQLite would lose those of the database. On log and journal SQLite has no locks.
struct OpenFile: ~Copyable {
    let descriptor: Int32

    /// Nil with `errno`: follows no link, never waits, and takes nothing but a regular file.
    ///
    /// `O_NONBLOCK` changes nothing for a regular file; open(2) of a pipe would wait for whoever writes to it.
    init?(_ path: String, _ flags: Int32, _ mode: mode_t = 0) {
        let descriptor = unsafe open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode)
        guard descriptor >= 0 else { return nil }
        guard FoundFile(descriptor: descriptor)?.kind == .regular else {
            close(descriptor)
            // What open(2) says of a socket.
            errno = ENXIO
            return nil
        }
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    /// Leaves the descriptor, and its close, to the caller.
    consuming func kept() -> Int32 {
        let descriptor = self.descriptor
        discard self
        return descriptor
    }

    /// Up to `count` bytes, fewer where the file ends before; nil with `errno`.
    func read(_ count: Int, at place: Int64 = 0) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        let found = unsafe pread(self.descriptor, &bytes, count, off_t(place))
        guard found >= 0 else { return nil }
        // Not `Array(bytes.prefix(found))`: where the caller drops the bytes, the optimizer of Swift 6.3.1 frees that
        // copy before it is filled.
        bytes.removeLast(count - found)
        return bytes
    }

    /// Writes all the bytes at the file's beginning; false, with `errno`, if there is no room for them.
    func write(_ bytes: [UInt8]) -> Bool {
        guard bytes.count <= Self.sizeLimit else {
            errno = EFBIG
            return false
        }
        return unsafe pwrite(self.descriptor, bytes, bytes.count, 0) == bytes.count
    }

    /// How many bytes this process may let a file have; the look is noted for SQLite's writes, too (limits.h).
    static var sizeLimit: Int64 { bs_look_at_size_limit() }

    /// Gives a file that this process has made the mode and the owner of the database beside it.
    ///
    /// The umask may have taken bits away, and the file must be open to the database's owner and group. Only root can
    /// give a file an owner.
    func take(mode: mode_t, owner: (user: uid_t, group: gid_t)?) {
        fchmod(self.descriptor, mode)
        if let owner { _ = fchown(self.descriptor, geteuid() == 0 ? owner.user : uid_t.max, owner.group) }
    }
}

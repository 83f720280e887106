import CBreakerStore

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

/// Opens files that somebody else may have made.
enum RegularFile {
    /// A descriptor, or -1 with `errno`: follows no link, never waits, and takes nothing but a regular file.
    ///
    /// `O_NONBLOCK` changes nothing for a regular file; open(2) of a pipe would wait for whoever writes to it.
    static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0) -> Int32 {
        let descriptor = openFile(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode)
        guard descriptor >= 0 else { return -1 }
        var info = stat()
        if unsafe fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG { return descriptor }
        close(descriptor)
        // What open(2) says of a socket.
        errno = ENXIO
        return -1
    }

    /// Writes all the bytes at the file's beginning; false, with `errno`, if there is no room for them.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        guard bytes.count <= Self.sizeLimit else {
            errno = EFBIG
            return false
        }
        return unsafe pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
    }

    /// How many bytes this process may let a file have; the look is noted for SQLite's writes, too (limits.h).
    static var sizeLimit: Int64 { bs_look_at_size_limit() }

    /// Gives a file that this process has made the mode and the owner of the database beside it.
    ///
    /// The umask may have taken bits away, and the file must be open to the database's owner and group. Only root can
    /// give a file an owner.
    static func give(_ descriptor: Int32, mode: mode_t, owner: (user: uid_t, group: gid_t)?) {
        fchmod(descriptor, mode)
        if let owner { _ = fchown(descriptor, geteuid() == 0 ? owner.user : uid_t.max, owner.group) }
    }
}

// The enum's own function hides that of C.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { unsafe open(path, flags, mode) }

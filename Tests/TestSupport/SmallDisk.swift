#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A small file system in memory that a test fills to its last byte; only root may mount one.
///
/// `LoopDisk` is an image of a real file system.
package struct SmallDisk {
    package let directory: String
    private let isMounted: Bool

    /// Mounts a tmpfs at a directory that is there.
    ///
    /// `scripts/filesystems.sh` has mounted another file system and names it by `BREAKERSTORE_SMALL_DISK`. It is used
    /// instead, by one test at a time.
    package init(at directory: String, megabytes: Int) throws {
        if let given = unsafe getenv("BREAKERSTORE_SMALL_DISK") {
            var template = unsafe Array("\(String(cString: given))/full-XXXXXX".utf8CString)
            guard unsafe mkdtemp(&template) != nil else { throw SystemError("make a directory on the small disk") }
            self.directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
            self.isMounted = false
            return
        }
        #if os(Linux)
        guard unsafe mount("tmpfs", directory, "tmpfs", 0, "size=\(megabytes)m") == 0 else {
            throw SystemError("mount a file system")
        }
        #endif
        self.directory = directory
        self.isMounted = true
    }

    /// A directory of another small file system that is mounted already.
    package init(mountedAt directory: String) {
        self.directory = directory
        self.isMounted = false
    }

    package func clear() {
        guard self.isMounted else { return Directory.remove(self.directory) }
        #if os(Linux)
        unsafe umount2(self.directory, Int32(MNT_DETACH))
        #endif
    }

    private var filler: String { "\(self.directory)/filler" }

    /// Takes all that is left, but for about so many bytes.
    ///
    /// What is to be left is taken first, as a file of its own: btrfs does not free a part of what was written at once.
    package func fill(leaving rest: Int = 0) throws {
        let cushion = "\(self.directory)/cushion"
        if rest > 0 { try self.append(to: cushion, atMost: rest) }
        try self.append(to: self.filler, atMost: .max)
        unsafe unlink(cushion)
    }

    package func free() { unsafe unlink(self.filler) }

    /// Writes and syncs until not a byte more is taken in.
    ///
    /// File systems that put off where to write keep room back until they know; after a sync there may be some again.
    private func append(to path: String, atMost most: Int) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError("make \(path)") }
        defer { close(descriptor) }
        var written = 0
        for size in [1 << 20, 4_096, 1] {
            let bytes = [UInt8](repeating: 1, count: size)
            var before = -1
            while before != written, written < most {
                before = written
                var count = 1
                while count > 0, written < most {
                    count = unsafe write(descriptor, bytes, min(size, most - written))
                    written += max(0, count)
                }
                fsync(descriptor)
            }
        }
    }
}

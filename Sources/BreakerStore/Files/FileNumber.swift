#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
#if canImport(SwiftOverlayShims)
// Beside `import Synchronization` in another file, the compiler takes it for the module that defines `stat`'s fields.
import SwiftOverlayShims
#endif

/// Which file it is: no other one of this boot has both numbers at the same time.
struct FileNumber: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64

    init(_ info: stat) {
        self.device = UInt64(truncatingIfNeeded: info.st_dev)
        self.inode = UInt64(truncatingIfNeeded: info.st_ino)
    }

    /// Of the file that a path leads to.
    init?(_ path: String) {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return nil }
        self.init(info)
    }
}

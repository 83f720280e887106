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

/// Which directory a path leads to, and when a name in it was last made, removed or changed to another file.
///
/// While the stamp of a store's directory stays the same, each name in it leads to the same file as before: one look
/// in place of one at each file.
struct DirectoryStamp: Equatable {
    private let directory: FileNumber
    private let modified: FileTime
    /// Nobody can set this time, as `touch` sets the other.
    private let changed: FileTime

    init?(of path: String) {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return nil }
        self.directory = FileNumber(info)
        (self.modified, self.changed) = FileTime.times(of: info)
    }

    /// Whether a change from now on shows in the stamp.
    ///
    /// File systems stamp by the kernel's tick, the coarsest by two seconds: within these a second change leaves the
    /// stamp as it is.
    var isSettled: Bool {
        var now = timespec()
        guard unsafe clock_gettime(CLOCK_REALTIME, &now) == 0 else { return false }
        return now.tv_sec > max(self.modified.seconds, self.changed.seconds) + 2
    }
}

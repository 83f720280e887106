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

/// An instant as the file system stamps files with it, in Unix time.
struct FileTime: Equatable {
    let seconds: Int
    let nanoseconds: Int

    private init(_ time: timespec) {
        self.seconds = time.tv_sec
        self.nanoseconds = time.tv_nsec
    }

    /// When the content was last modified, and when anything about the file was last changed.
    static func times(of info: stat) -> (modified: FileTime, changed: FileTime) {
        #if canImport(Darwin)
        (FileTime(info.st_mtimespec), FileTime(info.st_ctimespec))
        #else
        (FileTime(info.st_mtim), FileTime(info.st_ctim))
        #endif
    }
}

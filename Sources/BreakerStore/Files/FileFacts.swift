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

/// Which file it is, and how large.
struct FileFacts: Sendable {
    let file: FileNumber
    let size: Int

    /// Of an open file.
    init?(descriptor: Int32) {
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { return nil }
        self.file = FileNumber(info)
        self.size = Int(info.st_size)
    }
}

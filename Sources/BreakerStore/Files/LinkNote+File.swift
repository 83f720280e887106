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

extension LinkNote {
    private static let mostBytes = 2_048

    static func read(at path: String) -> LinkNote? {
        let descriptor = RegularFile.open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
        let count = unsafe pread(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return LinkNote(line: String(decoding: bytes[..<count], as: UTF8.self))
    }

    static func remove(at path: String) { unsafe unlink(path) }

    /// Puts the note in place of whatever is at the path, in one step, with the mode and the owner of the database.
    ///
    /// Where that can't be done nobody is told: a full disk keeps no link from its work.
    func write(at path: String, likeDatabase database: String) {
        var info = stat()
        guard unsafe stat(database, &info) == 0 else { return }
        let new = path + ".new"
        // Left by a process that was killed here.
        unsafe unlink(new)
        let mode = info.st_mode & 0o777
        let descriptor = RegularFile.open(new, O_WRONLY | O_CREAT | O_EXCL, mode)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        RegularFile.give(descriptor, mode: mode, owner: (info.st_uid, info.st_gid))
        guard RegularFile.write(Array(self.line.utf8), to: descriptor), unsafe rename(new, path) == 0 else {
            unsafe unlink(new)
            return
        }
    }
}

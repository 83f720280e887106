#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension LinkNote {
    private static let maxBytes = 2_048

    static func read(at path: String) -> LinkNote? {
        guard let file = OpenFile(path, O_RDONLY), let bytes = file.read(Self.maxBytes) else { return nil }
        return LinkNote(line: String(decoding: bytes, as: UTF8.self))
    }

    static func remove(at path: String) { unsafe unlink(path) }

    /// Replaces any file at the path by the note, in one step, with the mode and the owner of the database.
    ///
    /// Ignores errors: a full disk must not keep a link from its work.
    func write(at path: String, likeDatabase database: String) {
        guard let database = FoundFile(database) else { return }
        let new = path + ".new"
        // A process that was killed here may have left this file.
        unsafe unlink(new)
        let mode = mode_t(database.permissions & 0o777)
        guard let file = OpenFile(new, O_WRONLY | O_CREAT | O_EXCL, mode) else { return }
        file.change(mode: mode, owner: (database.owner, database.group))
        guard file.write(Array(self.line.utf8)), unsafe rename(new, path) == 0 else {
            unsafe unlink(new)
            return
        }
    }
}

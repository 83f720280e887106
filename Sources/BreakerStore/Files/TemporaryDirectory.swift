import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A temporary directory for one store; it lasts until it is removed or the process exits in order.
enum TemporaryDirectory {
    private final class Existing: Sendable { let paths = Mutex<[String]>([]) }

    /// The directories of this process; a child of `fork` begins with none, since its parent removes its own.
    private static let existing = PerProcess { Existing() }
    /// Registers the removal at exit, when it is first read.
    private static let registration = atexit { TemporaryDirectory.removeAll() }

    static func make() throws(BreakerStoreError) -> String {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? ""
        // SQLite follows no symbolic link (`SQLITE_OPEN_NOFOLLOW`). An empty text is as good as none.
        let directory = base.isEmpty ? "/tmp" : base
        let resolved = StoreFile.realPath(directory) ?? directory
        var template = Array((resolved + "/breaker-store-XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw BreakerStoreError(systemError: errno, doing: "make a directory in", path: resolved)
        }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        self.existing.value.paths.withLock { $0.append(path) }
        _ = self.registration
        return path
    }

    private static func removeAll() {
        for path in self.existing.value.paths.withLock(\.self) { self.remove(path) }
    }

    /// Removes the directory and the files in it.
    ///
    /// The directory is renamed first: the store's thread may still be at work, and can then make no file in it.
    static func remove(_ path: String) {
        Hook.reached("temporary.begin")
        let directory = path + ".gone"
        unsafe rename(path, directory)
        Hook.reached("temporary.renamed")
        if let stream = unsafe opendir(directory) {
            while let entry = unsafe readdir(stream) {
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                    unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
                }
                if name != ".", name != ".." { unsafe unlink(directory + "/" + name) }
            }
            unsafe closedir(stream)
        }
        unsafe rmdir(directory)
        self.existing.value.paths.withLock { $0.removeAll { $0 == path } }
    }
}

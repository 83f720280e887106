#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A directory of a store's own under the temporary directory.
enum TemporaryDirectory {
    static func make() throws(BreakerStoreError) -> String {
        let base = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var resolved = base
        // SQLite is told to follow no link.
        if let real = unsafe realpath(base, nil) {
            resolved = unsafe String(cString: real)
            unsafe free(real)
        }
        var template = Array((resolved + "/breaker-store-XXXXXX").utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            throw BreakerStoreError(systemError: errno, doing: "make a directory in", path: resolved)
        }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Removes the directory and the files in it.
    static func remove(_ directory: String) {
        Hook.reached("temporary.begin")
        if let stream = unsafe opendir(directory) {
            while let entry = unsafe readdir(stream) {
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                    unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
                }
                if name != ".", name != ".." { unsafe unlink(directory + "/" + name) }
            }
            unsafe closedir(stream)
        }
        Hook.reached("temporary.emptied")
        unsafe rmdir(directory)
    }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A directory of the demo's own, which it removes in the end.
struct Scratch {
    let path: String

    init() throws {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var name = Array("\(parent)/breaker-demo.XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else { throw DemoError.system("make a directory in \(parent)", code: errno) }
        self.path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Removes the directory and the files in it; there are no folders in it.
    func remove() {
        if let directory = unsafe opendir(self.path) {
            while let entry = unsafe readdir(directory) {
                let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                    unsafe String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
                }
                if name != ".", name != ".." { unsafe unlink("\(self.path)/\(name)") }
            }
            unsafe closedir(directory)
        }
        unsafe rmdir(self.path)
    }
}

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What is in a directory.
package enum Directory {
    /// The names in it, sorted; none if there is no such directory.
    package static func names(in path: String) -> [String] {
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Removes a file, or a directory with all that is in it.
    package static func remove(_ path: String) {
        if unsafe unlink(path) == 0 { return }
        for name in self.names(in: path) { self.remove("\(path)/\(name)") }
        unsafe rmdir(path)
    }
}

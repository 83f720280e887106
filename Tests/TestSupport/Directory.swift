import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Lists, makes and removes directories.
package enum Directory {
    /// How many bytes of a file have a place on the disk; 0 if there is no such file.
    package static func allocatedBytes(of path: String) -> Int64 { max(0, unsafe ts_allocated(path)) }

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

    /// A new directory that no symbolic link leads to; by default in memory, where syncing takes no time.
    ///
    /// `scripts/filesystems.sh` names another place by `BREAKERSTORE_FILES`, on the file system that is tested.
    package static func make(_ name: String) throws -> String {
        let asked = unsafe getenv("BREAKERSTORE_FILES").map { unsafe String(cString: $0) }
        let temporary = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        for base in asked.map({ [$0] }) ?? ["/dev/shm", temporary] {
            guard let real = unsafe realpath(base, nil) else { continue }
            defer { unsafe free(real) }
            var template = unsafe Array("\(String(cString: real))/\(name)-XXXXXX".utf8CString)
            guard unsafe mkdtemp(&template) != nil else { continue }
            return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        throw SystemError("make a directory")
    }
}

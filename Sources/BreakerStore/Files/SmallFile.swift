#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads small files, such as those in /proc, with plain system calls: Foundation would cost megabytes of memory.
package enum SmallFile {
    private static let maxBytes = 16 << 20

    /// The text of a file; nil if it can't be read.
    package static func text(_ path: String) -> String? {
        guard let file = OpenFile(path, O_RDONLY) else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < Self.maxBytes {
            let count = unsafe read(file.descriptor, &buffer, buffer.count)
            if count == 0 { break }
            guard count > 0 else {
                if errno == EINTR { continue }
                return nil
            }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The target of a symbolic link; nil if the path is no symbolic link.
    package static func target(ofLink path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }
}

import BreakerTestSupport

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// All files of a directory as they are at one time: names, bytes, permissions, inodes and times.
///
/// It opens and closes what it reads, so this process must have no SQLite connection to any of it.
struct Listing: Equatable, CustomStringConvertible {
    struct File: Equatable {
        var name: String
        var mode: UInt32
        var inode: UInt64
        var links: Int
        var size: Int64
        var modified: [Int]
        /// Nil for what is no regular file.
        var bytes: [UInt8]?
    }

    var files: [File]

    init(_ directory: String) { self.files = (["."] + Directory.names(in: directory)).map { File($0, in: directory) } }

    subscript(name: String) -> File? { self.files.first { $0.name == name } }

    var description: String { self.files.map(\.description).joined(separator: "\n") }
}

/// A failed expectation shows the descriptions alone: to reflect the bytes of a store takes minutes.
extension Listing: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: []) }
}

extension Listing.File: CustomStringConvertible, CustomReflectable {
    var description: String {
        let hash = self.bytes?.reduce(into: UInt64(5381)) { $0 = $0 &* 33 &+ UInt64($1) } ?? 0
        let mode = String(self.mode, radix: 8)
        return "\(self.name) \(mode) #\(self.inode) \(self.size) \(self.modified) \(String(hash, radix: 16))"
    }

    var customMirror: Mirror { Mirror(self, children: []) }
}

extension Listing.File {
    init(_ name: String, in directory: String) {
        let path = "\(directory)/\(name)"
        var info = stat()
        unsafe lstat(path, &info)
        let time = try? FoundFile.itself(at: path)?.modified
        self.init(
            name: name,
            mode: UInt32(info.st_mode),
            inode: UInt64(info.st_ino),
            links: Int(info.st_nlink),
            size: Int64(info.st_size),
            modified: [Int(time?.seconds ?? 0), Int(time?.nanoseconds ?? 0)],
            bytes: info.st_mode & S_IFMT == S_IFREG ? Files.read(path) : nil
        )
    }
}

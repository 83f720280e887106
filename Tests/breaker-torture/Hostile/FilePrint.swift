import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// All that can be told of the files below a directory, to be compared with later.
struct FilePrint {
    private struct File: Equatable {
        var numbers: [Int]
        var bytes: [UInt8]?
    }

    /// Larger files are told by their times alone.
    private static let maxRead = 8 << 20

    private var files: [String: File] = [:]

    init(_ directory: String) { self.add(directory) }

    /// Which files have come, gone or changed since.
    func changes(to later: FilePrint) -> [String] {
        let gone = self.files.keys.filter { later.files[$0] == nil }.map { "\($0) is gone" }
        let come = later.files.keys.filter { self.files[$0] == nil }.map { "\($0) has come" }
        let changed = self.files.filter { name, file in
            guard let other = later.files[name] else { return false }
            return other.numbers != file.numbers || !FileBytes.areEqual(other.bytes, file.bytes)
        }
        return (gone + come + changed.keys.map { "\($0) was changed" }).sorted()
    }

    private mutating func add(_ directory: String) {
        for name in Directory.names(in: directory) {
            let path = "\(directory)/\(name)"
            var info = stat()
            guard unsafe lstat(path, &info) == 0 else { continue }
            let isFile = info.st_mode & S_IFMT == S_IFREG
            self.files[path] = File(
                numbers: Self.numbers(info, withTimes: info.st_mode & S_IFMT != S_IFDIR),
                bytes: isFile && info.st_size <= Self.maxRead ? FileBytes.read(path) : nil)
            if info.st_mode & S_IFMT == S_IFDIR { self.add(path) }
        }
    }

    /// A directory's times change with what was made and removed in it.
    private static func numbers(_ info: stat, withTimes: Bool) -> [Int] {
        var numbers = [Int(info.st_mode), Int(info.st_uid), Int(info.st_ino), Int(info.st_nlink)]
        guard withTimes else { return numbers }
        numbers += [Int(info.st_size), Int(info.st_blocks)]
        #if canImport(Darwin)
        numbers += [info.st_mtimespec.tv_sec, info.st_mtimespec.tv_nsec]
        #else
        numbers += [info.st_mtim.tv_sec, info.st_mtim.tv_nsec]
        #endif
        return numbers
    }
}

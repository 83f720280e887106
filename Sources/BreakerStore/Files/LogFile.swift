#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads a write-ahead log without SQLite (https://sqlite.org/fileformat2.html#wal_file_format).
struct LogFile: ~Copyable {
    private static let headerSize = 32
    private static let frameHeaderSize = 24
    private static let formatVersion: UInt32 = 3_007_000

    /// The size of a log with this many frames.
    static func bytes(ofFrames frames: Int64, pageSize: Int64) -> Int64 {
        Int64(Self.headerSize) + frames * (Int64(Self.frameHeaderSize) + pageSize)
    }

    private let path: String
    private let file: OpenFile
    private let size: Int64
    private let header: [UInt8]

    /// Opens the log; nil if there is none.
    ///
    /// Throws if it can't be read, since the database alone may be incomplete.
    static func at(_ path: String) throws(BreakerStoreError) -> LogFile? {
        guard let file = OpenFile(path, O_RDONLY) else {
            if errno == ENOENT { return nil }
            throw BreakerStoreError(systemError: errno, doing: "read", path: path)
        }
        guard let header = file.read(Self.headerSize) else {
            throw BreakerStoreError(systemError: errno, doing: "read", path: path)
        }
        let size = FoundFile(descriptor: file.descriptor)?.size ?? 0
        return LogFile(path: path, file: file, size: size, header: header)
    }

    /// Reads at most `maxToReadThrough` bytes of the log; throws if the system can't read a part of them.
    func readThrough() throws(BreakerStoreError) {
        let count = 65_536
        let size = min(self.size, StoreFile.maxToReadThrough)
        for offset in stride(from: 0, to: size, by: count) { _ = try self.read(count, at: offset) }
    }

    /// Whether frames follow a valid header; SQLite takes a log without a valid header for empty.
    var hasFrames: Bool { self.size > Self.headerSize && self.isValid }

    private var pageSize: UInt32 { Self.word(self.header, 2) }

    /// The most frames that are searched for the schema's version: 1 GiB of a log with pages of 4 KiB.
    private static let maxFrames = 262_144

    /// The schema versions in all copies of the first page in the log, whether or not SQLite counts those frames.
    ///
    /// Leaves out frames beyond `maxFrames`: a process that opens the file for writing asks SQLite again.
    static func versions(at path: String) throws(BreakerStoreError) -> [Int64] {
        guard let log = try LogFile.at(path), log.hasFrames else { return [] }
        let frameSize = Int64(Self.frameHeaderSize) + Int64(log.pageSize)
        var versions: [Int64] = []
        for offset in stride(from: Int64(Self.headerSize), to: log.size, by: Int(frameSize)).prefix(Self.maxFrames) {
            let frame = try log.read(Self.frameHeaderSize, at: offset)
            // Frames from before the last restart of the log have other salts. A hole in a sparse file reads as zeros,
            // that is, as page 0, which no frame has. SQLite, too, takes such a frame for the end of the log.
            guard frame.count == Self.frameHeaderSize, frame[8..<16] == log.header[16..<24], Self.word(frame, 0) != 0
            else { break }
            guard Self.word(frame, 0) == 1 else { continue }
            let version = try log.read(4, at: offset + Int64(Self.frameHeaderSize + DatabaseHeader.userVersionOffset))
            if version.count == 4 { versions.append(Int64(Int32(bitPattern: Self.word(version, 0)))) }
        }
        return versions
    }

    /// Whether the header is whole and its checksum right.
    ///
    /// "The checksum is computed by interpreting the input as an even number of unsigned 32-bit integers", in the byte
    /// order of the magic number.
    private var isValid: Bool {
        guard self.header.count == Self.headerSize else { return false }
        let magic = Self.word(self.header, 0)
        guard magic & ~1 == 0x377F_0682, Self.word(self.header, 1) == Self.formatVersion,
            512...65_536 ~= self.pageSize, self.pageSize.nonzeroBitCount == 1
        else { return false }
        func word(_ index: Int) -> UInt32 {
            let word = Self.word(self.header, index)
            return magic & 1 == 1 ? word : word.byteSwapped
        }
        var (first, second): (UInt32, UInt32) = (0, 0)
        for index in stride(from: 0, to: 6, by: 2) {
            first &+= word(index) &+ second
            second &+= word(index + 1) &+ first
        }
        return first == Self.word(self.header, 6) && second == Self.word(self.header, 7)
    }

    /// The 32-bit big-endian word with this index.
    private static func word(_ bytes: [UInt8], _ index: Int) -> UInt32 {
        bytes[index * 4..<index * 4 + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }

    private func read(_ count: Int, at offset: Int64) throws(BreakerStoreError) -> [UInt8] {
        guard let bytes = self.file.read(count, at: offset) else {
            throw BreakerStoreError(systemError: errno, doing: "read", path: self.path)
        }
        return bytes
    }
}

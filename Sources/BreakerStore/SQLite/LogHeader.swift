#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the first bytes of a log say (https://sqlite.org/fileformat2.html#wal_file_format).
struct LogHeader {
    /// Whether it is one of a log; SQLite takes a log without for one that has no frames.
    let isValid: Bool
    /// Whether there is anything behind it.
    let hasMore: Bool

    private static let size = 32

    init(of path: String) {
        self.hasMore = StoreFile.size(path) ?? 0 > Self.size
        // Nothing locks the log itself: to open and close it takes no lock away.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else {
            self.isValid = false
            return
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        self.isValid = unsafe pread(descriptor, &bytes, bytes.count, 0) == bytes.count && Self.isValid(bytes)
    }

    /// "The checksum is computed by interpreting the input as an even number of unsigned 32-bit integers", in an order of
    /// bytes that the magic number tells.
    private static func isValid(_ bytes: [UInt8]) -> Bool {
        func word(_ place: Int, bigEndian: Bool = true) -> UInt32 {
            let word = bytes[place * 4..<place * 4 + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return bigEndian ? word : word.byteSwapped
        }
        let magic = word(0)
        guard magic & ~1 == 0x377F_0682 else { return false }
        var (first, second): (UInt32, UInt32) = (0, 0)
        for place in stride(from: 0, to: 6, by: 2) {
            first &+= word(place, bigEndian: magic & 1 == 1) &+ second
            second &+= word(place + 1, bigEndian: magic & 1 == 1) &+ first
        }
        return first == word(6) && second == word(7)
    }
}

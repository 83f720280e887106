#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the first bytes of a rollback journal say (https://sqlite.org/fileformat2.html#the_rollback_journal).
///
/// Nothing locks the journal itself: to open and close it takes no lock away.
enum JournalFile {
    private static let magic: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    private static let headerSize = 28
    private static let sizePlace = 16

    /// Whether the database was empty before the transaction that the journal is to roll back.
    static func startsFromNothing(_ path: String) -> Bool {
        let descriptor = RegularFile.open(path, O_RDONLY)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.headerSize)
        guard unsafe pread(descriptor, &bytes, bytes.count, 0) == bytes.count, bytes.starts(with: Self.magic) else {
            return false
        }
        // "Initial size of the database in pages".
        return bytes[Self.sizePlace..<Self.sizePlace + 4].allSatisfy { $0 == 0 }
    }
}

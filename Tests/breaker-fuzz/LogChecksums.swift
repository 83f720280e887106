/// The checksums of a log (https://sqlite.org/fileformat2.html#wal_file_format).
enum LogChecksums {
    /// Gives the header and each whole frame the salts and checksums that SQLite believes.
    static func mend(_ log: inout [UInt8]) {
        guard log.count >= 32 else { return }
        let isBigEndian = log[3] & 1 == 1
        var sums: (UInt32, UInt32) = (0, 0)
        Self.add(log[..<24], isBigEndian, to: &sums)
        Self.write(sums, to: &log, at: 24)
        let pageSize = Int(Self.number(log[...], 8))
        guard (512...65_536).contains(pageSize) else { return }
        var place = 32
        while place + 24 + pageSize <= log.count {
            for byte in 0..<8 { log[place + 8 + byte] = log[16 + byte] }
            Self.add(log[place..<place + 8], isBigEndian, to: &sums)
            // A page size that is no power of two is none for SQLite.
            Self.add(log[place + 24..<place + 24 + pageSize / 8 * 8], isBigEndian, to: &sums)
            Self.write(sums, to: &log, at: place + 16)
            place += 24 + pageSize
        }
    }

    private static func add(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool, to sums: inout (UInt32, UInt32)) {
        for place in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
            let (first, second) = (Self.number(bytes, place), Self.number(bytes, place + 4))
            sums.0 &+= (isBigEndian ? first : first.byteSwapped) &+ sums.1
            sums.1 &+= (isBigEndian ? second : second.byteSwapped) &+ sums.0
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ place: Int) -> UInt32 {
        bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func write(_ sums: (UInt32, UInt32), to log: inout [UInt8], at place: Int) {
        for byte in 0..<4 {
            log[place + byte] = UInt8(truncatingIfNeeded: sums.0 >> (24 - 8 * byte))
            log[place + 4 + byte] = UInt8(truncatingIfNeeded: sums.1 >> (24 - 8 * byte))
        }
    }
}

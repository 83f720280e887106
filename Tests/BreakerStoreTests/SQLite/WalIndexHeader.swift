@testable import BreakerStore

/// The header of a wal-index and what follows it, read by the places that SQLite's documentation gives.
///
/// See https://sqlite.org/walformat.html#the_wal_index_header_format.
struct WalIndexHeader: Equatable {
    /// Two copies of 48 bytes, then what checkpoints and locks use.
    let bytes: [UInt8]

    init(_ index: WalIndex) {
        self.bytes = unsafe Array(UnsafeRawBufferPointer(start: index.page, count: 136))
    }

    var copies: [[UInt8]] { [Array(self.bytes[..<48]), Array(self.bytes[48..<96])] }
    var version: UInt32 { Self.number(self.bytes, at: 0) }
    var changes: UInt32 { Self.number(self.bytes, at: 8) }
    var isInitialised: Bool { self.bytes[12] == 1 }
    var checksumsAreBigEndian: Bool { self.bytes[13] == 1 }
    /// 65,536 does not fit, and is written as 1.
    var pageSize: Int {
        let size = Int(self.bytes[14]) | Int(self.bytes[15]) << 8
        return size == 1 ? 65_536 : size
    }
    var frames: UInt32 { Self.number(self.bytes, at: 16) }
    var pages: UInt32 { Self.number(self.bytes, at: 20) }
    var checksumOfLastFrame: [UInt32] { [Self.number(self.bytes, at: 24), Self.number(self.bytes, at: 28)] }
    var salts: [UInt8] { Array(self.bytes[32..<40]) }
    var checksum: [UInt32] { [Self.number(self.bytes, at: 40), Self.number(self.bytes, at: 44)] }
    var copiedFrames: UInt32 { Self.number(self.bytes, at: 96) }

    /// What the checksum is to be: of the 40 bytes before it.
    var checksumOfFields: [UInt32] {
        var sums: [UInt32] = [0, 0]
        for place in stride(from: 0, to: 40, by: 8) {
            sums[0] &+= Self.number(self.bytes, at: place) &+ sums[1]
            sums[1] &+= Self.number(self.bytes, at: place + 4) &+ sums[0]
        }
        return sums
    }

    /// In the machine's own order of bytes; all machines that run Swift are little-endian.
    private static func number(_ bytes: [UInt8], at place: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << (8 * UInt32($1)) }
    }
}

/// A write-ahead log as it lies on the disk (https://sqlite.org/fileformat2.html#the_write_ahead_log).
struct LogBytes {
    let bytes: [UInt8]

    var salts: [UInt8] { Array(self.bytes[16..<24]) }

    /// How many frames there are if all of them belong to this log.
    func frames(ofPages size: Int) -> Int { (self.bytes.count - 32) / (24 + size) }

    func checksum(ofFrame frame: Int, ofPages size: Int) -> [UInt32] {
        let start = 32 + (frame - 1) * (24 + size)
        return [16, 20].map { place in
            self.bytes[(start + place)..<(start + place + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}

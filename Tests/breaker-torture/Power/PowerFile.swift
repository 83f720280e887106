#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One file on a disk that may lose its power: what is there for certain, and what was written since.
struct PowerFile {
    enum Change {
        case write(offset: Int, [UInt8])
        case resize(Int)
    }

    /// What a disk writes as a whole or not at all.
    static let sector = 512

    private var settled: [UInt8]
    private var pending: [(number: Int, change: Change)] = []

    init(_ bytes: [UInt8] = []) { self.settled = bytes }

    /// - Parameter number: that of its record.
    mutating func add(_ change: Change, number: Int) { self.pending.append((number, change)) }

    /// All that was changed before a record is on the disk.
    mutating func settle(before number: Int) {
        let count = self.pending.prefix { $0.number < number }.count
        guard count > 0 else { return }
        for (_, change) in self.pending[..<count] { Self.apply(change, to: &self.settled) }
        self.pending.removeFirst(count)
    }

    /// What a program reads: all is there.
    var current: [UInt8] {
        var bytes = self.settled
        for (_, change) in self.pending { Self.apply(change, to: &bytes) }
        return bytes
    }

    /// What is left after a cut.
    ///
    /// Each sector is as it was after one of the changes since the last sync, or before all of them; the size
    /// likewise. What was written beyond the size is gone; what the size alone reaches is zero.
    func left(by cut: inout PowerCut) -> [UInt8] {
        cut.begin(self.pending.map(\.number))
        var latest: [Int: Int] = [:]
        // The size as the programs saw it, and the changes that changed it.
        var size = self.settled.count
        var resizing: [(place: Int, size: Int)] = []
        for (place, (_, change)) in self.pending.enumerated() {
            switch change {
            case .write(let offset, let bytes):
                let sectors = offset / Self.sector...(offset + bytes.count - 1) / Self.sector
                for sector in sectors where cut.keeps(place, sector, of: sectors) { latest[sector] = place }
                if offset + bytes.count <= size { continue }
                size = offset + bytes.count
            case .resize(let newSize):
                size = newSize
            }
            resizing.append((place, size))
        }
        let sizesKept = cut.sizesKept(of: resizing.map { self.pending[$0.place].number })
        let lastResizing = sizesKept > 0 ? resizing[sizesKept - 1].place : -1
        var bytes = self.settled
        for (place, (_, change)) in self.pending.enumerated() {
            switch change {
            case .write(let offset, let written):
                Self.copy(written, to: &bytes, at: offset) { sector in latest[sector].map { place <= $0 } ?? false }
            case .resize(let newSize):
                // What is cut off and written anew later is zero in between.
                if place <= lastResizing, newSize < bytes.count { Self.resize(&bytes, to: newSize) }
            }
        }
        Self.resize(&bytes, to: sizesKept > 0 ? resizing[sizesKept - 1].size : self.settled.count)
        return bytes
    }

    /// Copies the sectors that are kept.
    private static func copy(
        _ written: [UInt8],
        to bytes: inout [UInt8],
        at offset: Int,
        where isKept: (Int) -> Bool
    ) {
        var begin = offset
        while begin < offset + written.count {
            let sector = begin / Self.sector
            let end = min(offset + written.count, (sector + 1) * Self.sector)
            if isKept(sector) { Self.copy(written, (begin - offset)..<(end - offset), to: &bytes, at: begin) }
            begin = end
        }
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let written): Self.copy(written, 0..<written.count, to: &bytes, at: offset)
        case .resize(let size): Self.resize(&bytes, to: size)
        }
    }

    private static func resize(_ bytes: inout [UInt8], to size: Int) {
        if size < bytes.count {
            bytes.removeSubrange(size...)
        } else if size > bytes.count {
            bytes += [UInt8](repeating: 0, count: size - bytes.count)
        }
    }

    private static func copy(_ from: [UInt8], _ range: Range<Int>, to bytes: inout [UInt8], at offset: Int) {
        if offset + range.count > bytes.count { Self.resize(&bytes, to: offset + range.count) }
        unsafe from.withUnsafeBytes { source in
            unsafe bytes.withUnsafeMutableBytes { target in
                guard let source = source.baseAddress, let target = target.baseAddress else { return }
                unsafe memcpy(target + offset, source + range.lowerBound, range.count)
            }
        }
    }
}

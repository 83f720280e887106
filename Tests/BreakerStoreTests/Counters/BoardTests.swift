import BreakerTestSupport
import CBreakerStore
import Testing

@testable import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file `<db>-board`: found, made, grown, replaced.
@Suite(.timeLimit(.minutes(10))) struct BoardTests {
    @Test func lateOutcomesAreInTheTotalsAndInNoWindow() throws {
        try BoardPlace.withBoard { place, board in
            let counter = try place.counter(board, 11)
            func end(_ failed: Bool, _ slow: Bool, _ late: Bool) {
                counter.count(CountedFailure(isFailed: failed, isSlow: slow), isLate: late) { 20_000_000 }
            }
            end(true, true, false)
            for _ in 0..<5 { end(true, true, true) }
            end(false, true, true)
            end(false, true, false)
            #expect(counter.totals == CellTotals(succeeded: 2, failed: 6, slow: 8))
            let sums = counter.sums(at: 20_000_000)
            #expect(sums.failed?.bad == 1 && sums.failed?.good == 1)
            // A slow one is never among the good ones of the rule about slow ones.
            #expect(sums.slow?.bad == 2 && sums.slow?.good == 0)
        }
    }

    @Test func oneIncarnationHasOneCellHoweverMuchTheBoardGrows() throws {
        try BoardPlace.withBoard { place, one in
            let other = try place.open()
            var random = SplitMix64(seed: 4)
            let incarnations = (0..<5_000).map { _ in Int64(random.next() >> 2) | 1 }
            for (index, incarnation) in incarnations.enumerated() {
                let board = index.isMultiple(of: 2) ? one : other
                try place.counter(board, incarnation, CountingRules()).totalsCell.add(UInt64(index + 1), to: .failed)
            }
            let fresh = try place.open()
            for (index, incarnation) in incarnations.enumerated() {
                let totals = try place.counter(fresh, incarnation, CountingRules()).totals
                #expect(totals.failed == UInt64(index + 1))
            }
            // What the kinds have room for that these circuits don't need is no part of the bound.
            let blocks = try #require(BoardReader(at: place.path)).header.segments.filter { $0.kind == .totals }
            #expect(blocks.reduce(0) { $0 + $1.size } < 5_000 * 200)
        }
    }

    /// Neither the board of another boot nor that of another file says anything of this one.
    @Test func anothersBoardIsReplaced() throws {
        try BoardPlace.withBoard { place, board in
            try place.counter(board, 11).totalsCell.add(1, to: .failed)
            var board = board
            for (incarnation, boot) in [(Int64(8), "this boot"), (8, "next boot")] {
                let other = try place.open(incarnation: incarnation, boot: boot)
                #expect(try place.counter(other, 11).totals == CellTotals())
                try place.counter(other, 11).totalsCell.add(1, to: .failed)
                #expect(!board.loseIfReplaced() && board.isLost && !other.isLost)
                board = other
            }
            #expect(
                Directory.names(in: StoreFile.directory(of: place.path)) == ["circuits.db-board", "circuits.db-lock"])
        }
    }

    @Test(arguments: ["empty", "garbage", "cut", "bits", "link", "directory", "two names", "pipe"])
    func anUnusableFileIsReplaced(kind: String) throws {
        try BoardPlace.withBoard { place, _ in
            let whole = try #require(Files.read(place.path))
            unsafe unlink(place.path)
            switch kind {
            case "empty": Files.write([], to: place.path)
            case "garbage": Files.write((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, to: place.path)
            case "cut": Files.write(whole.dropLast(4_096), to: place.path)
            case "bits": Files.write(whole.prefix(17) + [whole[17] ^ 1] + whole.dropFirst(18), to: place.path)
            case "link":
                Files.write(whole, to: place.path + "-elsewhere")
                unsafe symlink(place.path + "-elsewhere", place.path)
            case "directory": unsafe mkdir(place.path, 0o700)
            case "two names":
                Files.write(whole, to: place.path + "-elsewhere")
                unsafe link(place.path + "-elsewhere", place.path)
            default: unsafe mkfifo(place.path, 0o600)
            }
            if kind == "directory" {
                #expect(throws: BreakerStoreError.self) { _ = try place.open() }
                return
            }
            let board = try place.open()
            #expect(try place.counter(board, 11).totals == CellTotals())
            #expect(board.loseIfReplaced())
            if let elsewhere = Files.read(place.path + "-elsewhere") { #expect(elsewhere == whole) }
        }
    }

    /// Each bit of what tells where the segments are, and each of some cells.
    @Test func noBitLeadsOutOfTheFile() throws {
        try BoardPlace.withBoard { place, board in
            let counter = try place.counter(board, 11)
            counter.totalsCell.add(1, to: .failed)
            let whole = try #require(Files.read(place.path))
            let places = Array(0..<120) + stride(from: 120, to: 4_096, by: 97)
            for place in places {
                for bit in 0..<8 {
                    var bytes = Array(whole.prefix(4_096))
                    bytes[place] ^= 1 << bit
                    let words = (0..<512).map { (index: Int) -> UInt64 in
                        (0..<8).reduce(0) { (word: UInt64, byte: Int) -> UInt64 in
                            word | UInt64(bytes[index * 8 + byte]) << UInt64(byte * 8)
                        }
                    }
                    guard let header = BoardHeader(words, fileSize: whole.count) else { continue }
                    for segment in header.segments {
                        #expect(segment.offset >= BoardHeader.size && segment.end <= whole.count)
                    }
                }
            }
        }
    }

    @Test func showsWhoIsDegraded() throws {
        try BoardPlace.withBoard { place, board in
            // So many have room where the next segment begins all the same.
            for worker in 1...1_024 {
                #expect(board.setDegraded(WorkerID(Int64(worker)), since: 5, isAlive: { _ in true }))
            }
            #expect(!board.setDegraded(1_025, since: 5, isAlive: { _ in true }))
            // The cell of a dead worker is free.
            #expect(board.setDegraded(1_026, since: 6, isAlive: { $0 != 9 }))
            #expect(board.setDegraded(3, since: nil, isAlive: { _ in true }))
            let known = try place.open().degraded()
            #expect(known.count == 1_023)
            #expect(known.first { $0.worker == 1_026 }?.since == 6)
            #expect(!known.contains { $0.worker == 9 || $0.worker == 3 })
        }
    }

    /// A worker has taken a dead one's cell, and has not written its time yet.
    @Test func noWorkerIsDegradedSinceAnothersTime() throws {
        try BoardPlace.withBoard { place, board in
            #expect(board.setDegraded(7, since: 100, isAlive: { _ in true }))
            let segments = try board.segments(mappingNew: true)
            let cell = try #require(segments.first { $0.kind == .degradedWorker }).cell(at: 0)
            cell[0] = 8
            #expect(board.degraded() == [])
            #expect(try #require(BoardReader(at: place.path)).degraded() == [])
            // The cell is the worker's all the same.
            #expect(board.setDegraded(8, since: 200, isAlive: { _ in true }))
            #expect(board.degraded() == [.init(worker: 8, since: 200)])
            #expect(board.setDegraded(8, since: nil, isAlive: { _ in true }))
            #expect(board.degraded() == [])
        }
    }

    /// A later release may have more reasons.
    @Test func aReasonThatIsNotKnownIsNone() throws {
        try BoardPlace.withBoard { place, board in
            #expect(board.setDegraded(7, since: 100, reason: .full, isAlive: { _ in true }))
            #expect(board.degraded() == [.init(worker: 7, since: 100, reason: .full)])
            let segments = try board.segments(mappingNew: true)
            let cell = try #require(segments.first { $0.kind == .degradedWorker }).cell(at: 0)
            (cell[2], cell[3]) = (99, bs_check(7, 100, 99, 0))
            #expect(board.degraded() == [.init(worker: 7, since: 100)])
        }
    }

    /// A full disk, or a limit of the process: the board stays as it was.
    @Test func aBoardThatCannotGrowIsNoTrap() async {
        await #expect(processExitsWith: .success) {
            let directory = try Files.makeDirectory()
            defer { Files.remove(directory) }
            let place = try BoardPlace(directory)
            let board = try place.open()
            limitFiles(toBytes: 1 << 20)
            // The process leaves a coverage profile, which a limit would cut, and then no profile could be merged.
            defer { limitFiles(toBytes: rlim_t.max) }
            var made = 0
            while made < 20_000, (try? place.counter(board, Int64(made + 1), CountingRules())) != nil { made += 1 }
            #expect(made > 100 && made < 20_000)
            #expect(try place.counter(board, 1, CountingRules()).totals == CellTotals())
            #expect(board.loseIfReplaced())
            // No segment is known that the disk has no room for.
            let segments = try #require(BoardReader(at: place.path)).header.segments
            let size = segments.reduce(BoardHeader.size) { $0 + $1.size }
            #expect(Directory.allocatedBytes(of: place.path) >= Int64(size))
        }
    }
}

/// No file of this process may grow beyond this.
private func limitFiles(toBytes bytes: rlim_t) {
    var limit = rlimit(rlim_cur: bytes, rlim_max: rlim_t.max)
    #if canImport(Darwin)
    unsafe setrlimit(RLIMIT_FSIZE, &limit)
    #else
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #endif
}

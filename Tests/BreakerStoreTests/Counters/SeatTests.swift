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

/// The seats of a board: who has one, how far it has answered, and how it is woken.
@Suite(.timeLimit(.minutes(10))) struct SeatTests {
    private static func sit(
        _ board: Board, _ worker: WorkerID, dead: Set<WorkerID> = []
    ) throws -> Seats {
        try board.acquireSeat(for: worker, isAlive: { !dead.contains($0) }, making: .alone)
    }

    @Test func theLowestFreeSeatIsTaken() throws {
        try BoardPlace.withBoard { place, board in
            for worker in 1...Int64(SeatTable.count) { _ = try Self.sit(board, WorkerID(worker)) }
            let seats = try Self.sit(place.open(), 1)
            let workers = Dictionary(uniqueKeysWithValues: (0..<128).map { ($0, WorkerID(Int64($0 + 1))) })
            #expect(seats.taken.mapValues(\.worker) == workers)
            // One more has none, and still asks.
            let last = try Self.sit(board, 129)
            #expect(last.bell == nil && last.taken.count == 128)
            #expect(last.ask() == 1 && seats.asked == 1)
            last.answer(1)
            last.leave()
            #expect(!seats.taken.values.contains { $0.answered == 1 })
            // A dead worker's seat is free, the lowest first.
            let next = try Self.sit(board, 130, dead: [77, 5])
            #expect(next.taken[4]?.worker == 130 && next.taken[76]?.worker == 77)
            // So is one whose worker has left.
            try Self.sit(board, 3).leave()
            #expect(try Self.sit(board, 131).taken[2]?.worker == 131)
        }
    }

    /// A worker that takes a seat has answered nothing that is asked now, whatever the worker before had.
    @Test func aSeatThatIsUsedAgainHasNoAnswers() throws {
        try BoardPlace.withBoard { _, board in
            let first = try Self.sit(board, 1)
            first.add(8)
            for _ in 0..<5 { _ = first.ask() }
            first.answer(5)
            #expect(first.taken[0] == Seats.Taken(worker: 1, answered: 5, mask: 8))
            let second = try Self.sit(board, 2, dead: [1])
            #expect(second.taken[0] == Seats.Taken(worker: 2, answered: 4, mask: 0))
            // The dead worker's process is not dead after all: it frees no seat of another worker.
            first.leave()
            #expect(second.taken[0]?.worker == 2)
        }
    }

    @Test func masksFollowTheCircuits() throws {
        try BoardPlace.withBoard { _, board in
            let seats = try Self.sit(board, 1)
            seats.add(1)
            seats.add(4)
            #expect(seats.taken[0]?.mask == 5)
            // A bit that is added meanwhile is not lost.
            seats.setMask {
                seats.add(16)
                return 4
            }
            #expect(seats.taken[0]?.mask == 21)
            seats.setMask { 20 }
            #expect(seats.taken[0]?.mask == 20)
        }
    }

    /// The bell wakes a thread that sleeps through a mapping of its own.
    @Test func aBellWakesWhoSleeps() async throws {
        try BoardPlace.withBoard { place, board in
            let sleeper = try Self.sit(board, 1)
            let ringer = try Self.sit(place.open(), 2)
            let bell = try #require(sleeper.bell)
            let thread = StoreThread()
            let isWoken = Signal()
            #expect(
                thread.start {
                    // Ends at once where the bell was rung before.
                    while sleeper.bell == bell { _ = sleeper.sleep(while: bell, for: .hangLimit) }
                    isWoken.signal()
                })
            ringer.ring([0, 1])
            #expect(isWoken.wait(for: .hangLimit))
        }
    }

    /// Workers of a board that is replaced are woken, and find it out.
    @Test func aReplacedBoardIsMarked() throws {
        try BoardPlace.withBoard { place, board in
            let seats = try Self.sit(board, 1)
            let bell = try #require(seats.bell)
            #expect(!seats.isMoved)
            _ = try place.open(incarnation: 8)
            #expect(seats.isMoved && seats.bell != bell)
        }
    }

    /// A board of a release that has no seats: they are appended, and what is there stays.
    @Test func aBoardWithoutSeatsGetsThem() throws {
        try BoardPlace.withBoard { place, board in
            let counter = try place.counter(board, 11)
            counter.totalsCell.add(7, to: .failed)
            // The last segment is that of the seats: a header that ends before it is the header of 0.5.0.
            let header = try #require(BoardReader(at: place.path)).header
            #expect(header.segments.contains { $0.kind == .seats })
            unsafe unlink(place.path)
            var older = BoardHeader(owner: header.owner, number: 42, kinds: [.totals, .ring, .degradedWorker])
            #expect(!older.segments.contains { $0.kind == .seats })
            var bytes = older.encoded.flatMap { word in
                (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) }
            }
            bytes += [UInt8](repeating: 0, count: older.fileSize - bytes.count)
            Files.write(bytes, to: place.path)
            let found = try place.open()
            #expect(found.number == 42)
            let other = try place.open()
            let kept = try place.counter(other, 11)
            kept.totalsCell.add(3, to: .failed)
            let seats = try Self.sit(found, 1)
            #expect(try Self.sit(other, 2).taken.mapValues(\.worker) == [0: 1, 1: 2])
            #expect(seats.taken.count == 2 && kept.totals.failed == 3)
            older = try #require(BoardReader(at: place.path)).header
            #expect(older.segments.count { $0.kind == .seats } == 1 && older.number == 42)
        }
    }

    /// Writes a board whose header is that of another, with one change, and with room for all segments.
    private static func forge(_ place: BoardPlace, _ change: (inout [UInt64], BoardHeader) -> Void) throws {
        let header = try #require(BoardReader(at: place.path)).header
        var words = header.encoded
        change(&words, header)
        var bytes = words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64($0 * 8)) } }
        bytes += [UInt8](repeating: 0, count: header.fileSize - bytes.count)
        unsafe unlink(place.path)
        Files.write(bytes, to: place.path)
    }

    /// A segment that is too small for all seats is damage: to touch the last seat would be to touch other memory.
    @Test func aSegmentTooSmallForTheSeatsIsDamage() throws {
        try BoardPlace.withBoard { place, board in
            try Self.forge(place) { words, header in
                let place = BoardHeader.Index.segments + (header.segments.count - 1) * 2 + 1
                #expect(header.segments.last?.kind == .seats)
                words[place] = 1 << 16 | words[place] & 0xFFFF
            }
            let next = try place.open()
            #expect(next.number != board.number)
            #expect(try Self.sit(next, 1).taken.count == 1)
        }
    }

    /// A board is marked once another has its name: a mark on the board in place is damage, and would have each worker
    /// leave that board again and again.
    @Test func aMarkOnTheBoardInPlaceIsDamage() throws {
        try BoardPlace.withBoard { place, board in
            try #require(ReplacedBoard(at: place.path)).markMoved()
            let next = try place.open()
            #expect(next.number != board.number)
            #expect(try !Self.sit(next, 1).isMoved)
        }
    }

    /// A worker whose seat was given away, as its lock on the file was lost, answers for nobody else.
    @Test func whoHasLostItsSeatLeavesItAlone() throws {
        try BoardPlace.withBoard { _, board in
            let first = try Self.sit(board, 1)
            let second = try Self.sit(board, 2, dead: [1])
            for _ in 0..<3 { _ = second.ask() }
            first.answer(3)
            first.add(8)
            first.setMask { 9 }
            #expect(second.taken[0] == Seats.Taken(worker: 2, answered: .max, mask: 0))
            second.answer(3)
            #expect(second.taken[0]?.answered == 3)
        }
    }

    /// A sleep on memory that is gone says so; the process lives.
    @Test func aCutBoardEndsTheSleep() async {
        await #expect(processExitsWith: .success) {
            let directory = try Directory.make("seats")
            defer { Directory.remove(directory) }
            let place = try BoardPlace(directory)
            let seats = try place.open().acquireSeat(for: 1, isAlive: { _ in true }, making: .alone)
            guard let bell = seats.bell, unsafe truncate(place.path, 0) == 0 else { exit(2) }
            if case .lost = seats.sleep(while: bell, for: .hangLimit) { exit(0) }
            exit(1)
        }
    }
}

import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Names that come and go: the cells of forgotten circuits are used again.
@Suite(.timeLimit(.minutes(10))) struct ReusedCellsTests {
    private static let rules = CountingRules(failureWindow: 16_000_000)

    /// Very many circuits, a thousand at a time: the board is as large as those that were there at once.
    @Test func namesThatComeAndGoLeaveASmallBoard() throws {
        try BoardPlace.withBoard { place, board in
            let atOnce = 1_000
            for first in stride(from: 1, through: 60_000, by: atOnce) {
                let incarnations = Set((first..<first + atOnce).map { Int64($0) })
                for incarnation in incarnations {
                    let counter = try place.counter(board, incarnation, Self.rules, among: incarnations)
                    #expect(counter.totals.failed == 0)
                    counter.count(.failed) { 20_000_000 }
                }
                for incarnation in incarnations {
                    let counter = try place.counter(board, incarnation, Self.rules, among: incarnations)
                    #expect(counter.totals.failed == 1 && counter.sums(at: 20_000_000).failed?.bad == 1)
                }
            }
            let size = try #require(FoundFile(place.path)?.size)
            #expect(size < 4_000_000, "\(size) bytes")
        }
    }

    /// The same through a store: names are registered, fail, and are forgotten.
    @Test func aStoreUsesTheCellsOfForgottenNamesAgain() async throws {
        let fixture = try StoreFixture()
        let path = fixture.store.backend.file.board
        for round in 0..<30 {
            let names = (0..<20).map { "circuit-\(round)-\($0)" }
            for name in names {
                let breaker = try fixture.store.breaker(
                    .init(name: name, trip: .failureRate(1, minimumCalls: 100, within: .seconds(16))))
                await breaker.recordFailure()
                #expect(breaker.totals.failed == 1)
            }
            for name in names { try await fixture.store.forget(name) }
        }
        let segments = try #require(BoardReader(at: path)).header.segments
        let cells = segments.filter { $0.kind == .ring }.reduce(0) { $0 + $1.capacity }
        #expect(cells < 300, "600 circuits were there, twenty at a time")
    }

    /// Circuits that are still there keep their cells, wherever these lie.
    @Test func cellsOfCircuitsThatAreThereStay() throws {
        try BoardPlace.withBoard { place, board in
            let staying = Set(stride(from: 1, through: 2_000, by: 10).map { Int64($0) })
            for incarnation in 1...2_000 as ClosedRange<Int64> {
                try place.counter(board, incarnation, Self.rules).count(.failed) { 20_000_000 }
            }
            for incarnation in 3_000...9_000 as ClosedRange<Int64> {
                _ = try place.counter(board, incarnation, Self.rules, among: staying.union([incarnation]))
            }
            for incarnation in staying {
                let counter = try place.counter(board, incarnation, Self.rules, among: staying)
                #expect(counter.totals.failed == 1 && counter.sums(at: 20_000_000).failed?.bad == 1, "\(incarnation)")
            }
        }
    }

    /// A process that still has the cells of a forgotten circuit adds to no other circuit, and knows that it is lost.
    @Test func whoStillHasTheCellsAddsNothing() throws {
        try BoardPlace.withBoard { place, board in
            let old = try place.counter(board, 1, Self.rules)
            old.count(.failed) { 20_000_000 }
            #expect(!old.isLost)
            var new: [CircuitCells] = []
            for incarnation in 2...600 as ClosedRange<Int64> {
                new.append(try place.counter(board, incarnation, Self.rules, among: Set(2...600)))
            }
            #expect(old.isLost)
            let lanes = Lanes()
            for _ in 0..<5 { lanes.add(.succeeded) }
            old.count(.failed, lanes: lanes) { 20_000_000 }
            #expect(new.allSatisfy { $0.totals == CellTotals() && $0.sums(at: 20_000_000).failed?.calls == 0 })
            #expect(old.sums(at: 20_000_000).failed == nil)
        }
    }

    /// Where the file can't be read nobody knows which circuits are there: the board grows.
    @Test func withoutTheFileNoCellIsFreed() throws {
        try BoardPlace.withBoard { place, board in
            for incarnation in 1...3_000 as ClosedRange<Int64> {
                try place.counter(board, incarnation, Self.rules, among: nil).count(.failed) { 20_000_000 }
            }
            for incarnation in 1...3_000 as ClosedRange<Int64> {
                #expect(try place.counter(board, incarnation, Self.rules).totals.failed == 1)
            }
        }
    }

    /// One circuit finds no room, and the board can't grow: circuits for which there is room count on the board.
    @Test func aBoardThatCannotGrowTakesWhomItHasRoomFor() throws {
        try BoardPlace.withBoard { place, board in
            let room = Board.RoomMaking(
                exclusively: { (body) throws(BreakerStoreError) in try body() }, mayGrow: { false },
                incarnations: { nil }, growthFailed: {})
            var (made, refused) = (0, 0)
            for incarnation in 1...400 as ClosedRange<Int64> {
                let counter = try? CircuitCells(
                    ofID: incarnation, incarnation: incarnation, CountingRules(), on: board, making: room)
                if counter == nil { refused += 1 } else { made += 1 }
            }
            #expect(refused > 0 && made > 240)
        }
    }

    /// A later release adds a kind of cells: this one passes them over, and grows behind them.
    @Test func aKindThatIsNotKnownIsPassedOver() throws {
        try BoardPlace.withBoard { place, board in
            try place.counter(board, 1).count(.failed) { 20_000_000 }
            var bytes = try #require(Files.read(place.path).map { Array($0) })
            let end = (bytes.count + 65_535) / 65_536 * 65_536
            bytes += [UInt8](repeating: 0, count: end - bytes.count) + [UInt8](repeating: 0xEE, count: 16 * 3 * 8)
            func put(_ word: UInt64, at place: Int) {
                for byte in 0..<8 { bytes[place * 8 + byte] = UInt8(truncatingIfNeeded: word >> UInt64(byte * 8)) }
            }
            let count = Int(bytes[6 * 8])
            put(UInt64(end), at: 8 + count * 2)
            put(16 << 16 | 3 << 8 | 77, at: 9 + count * 2)
            put(UInt64(count + 1), at: 6)
            Files.write(bytes, to: place.path)
            let again = try place.open()
            #expect(again.number == board.number)
            #expect(try place.counter(again, 1).totals.failed == 1)
            for incarnation in 2...2_000 as ClosedRange<Int64> {
                try place.counter(again, incarnation).count(.failed) { 20_000_000 }
            }
            #expect(try #require(BoardReader(at: place.path)).totals().count == 2_000)
            let read = try #require(Files.read(place.path))
            #expect(read[end..<end + 16 * 3 * 8].allSatisfy { $0 == 0xEE })
        }
    }
}

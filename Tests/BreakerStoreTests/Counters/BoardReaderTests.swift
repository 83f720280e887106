import Testing

@testable import BreakerStore

/// Those who only look: they map nothing and write nothing.
@Suite(.timeLimit(.minutes(10))) struct BoardReaderTests {
    @Test func readsWhatWorkersCounted() throws {
        try BoardPlace.withBoard { place, board in
            let lanes = Lanes()
            for incarnation in 1...300 as ClosedRange<Int64> {
                let counter = try place.counter(board, incarnation)
                for _ in 0..<incarnation { lanes.add(.succeeded) }
                counter.count(.failed, by: 9, lanes: lanes) { 20_000_000 }
            }
            #expect(board.setDegraded(9, since: 77, reason: .busy, isAlive: { _ in true }))
            let before = Files.read(place.path)
            let reader = try #require(BoardReader(at: place.path))
            #expect(reader.header.owner == .init(bootID: "this boot", incarnation: 7))
            #expect(reader.header.number == board.number)
            let totals = reader.totals()
            #expect(totals.count == 300)
            for incarnation in 1...300 as ClosedRange<Int64> {
                #expect(reader.totals(CellKey(incarnation: incarnation, id: incarnation)) == totals[incarnation])
                #expect(totals[incarnation] == CellTotals(succeeded: UInt64(incarnation), failed: 1))
                let ticks = WindowTicks(window: 16_000_000)
                let key = CellKey(incarnation: incarnation, .failed, ticks)
                let sums = reader.sums(key, ticks, inGeneration: 1, at: 20_000_000)
                #expect(sums == WindowCount(calls: incarnation + 1, bad: 1))
            }
            #expect(reader.totals(CellKey(incarnation: 301, id: 301)) == nil)
            #expect(reader.degraded() == [.init(worker: 9, since: 77, reason: .busy)])
            #expect(Files.read(place.path) == before)
        }
    }

    #if BREAKERSTORE_HOOKS
    /// Another process adds a segment between two reads of the file.
    @Test func readsABoardThatGrows() async {
        await #expect(processExitsWith: .success) {
            try BoardPlace.withBoard { place, board in
                try place.counter(board, 1).totalsCell.add(1, to: .failed)
                Hook.install { name in
                    guard name == "board.reading" else { return }
                    Hook.install(nil)
                    for incarnation in 2...400 as ClosedRange<Int64> { _ = try? place.counter(board, incarnation) }
                }
                #expect(BoardReader(at: place.path)?.totals(CellKey(incarnation: 1, id: 1)) == CellTotals(failed: 1))
            }
        }
    }
    #endif

    @Test func readsNoBoardWhereThereIsNone() throws {
        try Files.withDirectory { directory in
            #expect(BoardReader(at: directory + "/none") == nil)
            Files.write((0..<100_000).map { _ in UInt8.random(in: 0...255) }, to: directory + "/garbage")
            #expect(BoardReader(at: directory + "/garbage") == nil)
        }
    }
}

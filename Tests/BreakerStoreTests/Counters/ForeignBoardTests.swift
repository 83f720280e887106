import Foundation
import Testing

@testable import BreakerStore

/// A program in Python that follows docs/store-format.md reads what workers counted.
@Suite(.timeLimit(.minutes(10))) struct ForeignBoardTests {
    private struct Told: Decodable {
        struct Circuit: Decodable {
            let succeeded, failed, slow, ignored, refused: UInt64
            let durations: [UInt64]?
            let durationSum: UInt64?
            let window: [Int64]?
        }

        let boot, incarnation, number: UInt64
        let circuits: [String: Circuit]
        struct Degraded: Decodable, Equatable {
            let since, reason: UInt64
        }

        let degraded: [String: Degraded]
    }

    private static let script =
        #filePath.split(separator: "/", omittingEmptySubsequences: false)
        .dropLast(4).joined(separator: "/") + "/Tests/Python/board_reader.py"

    private static func output(_ arguments: [String]) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", self.script] + arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return data
    }

    @Test func readsWhatTheDocumentSays() throws {
        try BoardPlace.withBoard { place, board in
            let lanes = Lanes()
            let durations = DurationLane()
            for incarnation in 1...200 as ClosedRange<Int64> {
                let counter = try place.counter(board, incarnation)
                for _ in 0..<incarnation { lanes.add(.succeeded) }
                for _ in 0..<incarnation % 7 { lanes.add(.ignored) }
                lanes.add(.refused)
                durations.add(incarnation * 1_000)
                counter.addToTotals(LaneCounts(), durations)
                for (failed, slow, late) in [
                    (true, true, false), (true, false, false), (false, true, false), (true, true, true),
                ] {
                    let end = CountedFailure(isFailed: failed, isSlow: slow)
                    counter.count(end, by: 9, windowGeneration: 3, lanes: lanes, isLate: late) { 21_500_000 }
                }
            }
            board.setDegraded(WorkerID(1 << 40), since: 77, reason: .full, isAlive: { _ in true })
            board.setDegraded(9, since: 78, isAlive: { _ in true })
            let data = try Self.output([place.path, "22000000", "3", "16000000"])
            let told = try JSONDecoder().decode(Told.self, from: data)
            #expect(told.boot == board.owner.boot && told.incarnation == 7 && told.number == board.number)
            #expect(told.circuits.count == 200)
            #expect(told.degraded == [String(1 << 40): .init(since: 77, reason: 2), "9": .init(since: 78, reason: 0)])
            for incarnation in 1...200 as ClosedRange<Int64> {
                let counter = try place.counter(board, incarnation)
                let circuit = try #require(told.circuits[String(incarnation)])
                #expect(
                    counter.totals
                        == CellTotals(
                            succeeded: circuit.succeeded, failed: circuit.failed, slow: circuit.slow,
                            ignored: circuit.ignored, refused: circuit.refused))
                let durations = try #require(
                    BoardReader(at: place.path)?.durations(CellKey(incarnation: incarnation, id: incarnation)))
                #expect(circuit.durations == durations.calls && circuit.durationSum == durations.sum)
                let sums = counter.sums(windowGeneration: 3, at: 22_000_000).failed
                #expect(circuit.window == sums.map { [$0.bad, $0.good] })
                #expect(sums?.bad == 2 && sums?.good == incarnation + 1)
            }
        }
    }

    @Test func readsNoGarbage() throws {
        try Files.withDirectory { directory in
            for size in [0, 100, 4_096, 300_000] {
                Files.write((0..<size).map { _ in UInt8.random(in: 0...255) }, to: directory + "/garbage")
                let output = try Self.output([directory + "/garbage"])
                #expect(output.isEmpty)
            }
        }
    }
}

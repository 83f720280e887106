import BreakerTestSupport
import Dispatch
import Foundation
import Testing

@testable import BreakerStore

/// What calls count in their process's own memory.
@Suite(.timeLimit(.minutes(10))) struct LaneTests {
    private final class Shared: Sendable {
        let lanes = Lanes()
    }

    @Test func takesEachCountOnce() {
        let lanes = Lanes()
        for _ in 0..<5 { lanes.add(.succeeded) }
        for _ in 0..<3 { lanes.add(.ignored) }
        lanes.add(.refused)
        #expect(lanes.drain() == LaneCounts(succeeded: 5, ignored: 3, refused: 1))
        #expect(lanes.drain().isEmpty)
    }

    /// A call that found the first lane may add to it when there are more.
    @Test func losesNothingWhileLanesAreAdded() {
        let shared = Shared()
        let group = DispatchGroup()
        for _ in 0..<4 {
            Thread.detach(group) { for _ in 0..<200_000 { shared.lanes.add(.succeeded) } }
        }
        var sum: UInt64 = 0
        for _ in 0..<50 { sum += shared.lanes.drain().succeeded }
        shared.lanes.widen()
        group.wait()
        sum += shared.lanes.drain().succeeded
        #expect(sum == 800_000)
        #expect(shared.lanes.count == Lanes.lanes(forCPUs: LaneArena.cpus))
    }

    @Test func oneLaneIsEnoughForACircuitThatIsNotBusy() {
        let lanes = Lanes()
        for _ in 0..<Lanes.busy { lanes.add(.succeeded) }
        _ = lanes.drain()
        #expect(lanes.count == 1)
        for _ in 0...Lanes.busy { lanes.add(.succeeded) }
        _ = lanes.drain()
        #expect(lanes.count == Lanes.lanes(forCPUs: LaneArena.cpus))
    }

    @Test(arguments: [(1, 1), (2, 2), (3, 4), (6, 8), (8, 8), (64, 8)])
    func lanesAreAPowerOfTwo(cpus: Int, lanes: Int) { #expect(Lanes.lanes(forCPUs: cpus) == lanes) }

    @Test func memoryThatWasFreedIsZero() {
        for _ in 0..<100 {
            let lanes = Lanes()
            #expect(lanes.drain().isEmpty)
            lanes.add(.succeeded)
        }
    }

    /// What the parent counts is published by the parent alone.
    @Test func aForkFindsZeros() async {
        await #expect(processExitsWith: .success) {
            let lanes = Lanes()
            for _ in 0..<5 { lanes.add(.succeeded) }
            #expect(Forked.run { lanes.drain().isEmpty ? 0 : 1 } == .exited(0))
            lanes.widen()
            for _ in 0..<5 { lanes.add(.succeeded) }
            #expect(Forked.run { lanes.drain().isEmpty ? 0 : 1 } == .exited(0))
            #expect(lanes.drain().succeeded == 10)
        }
    }

    @Test func theNumberOfTheCPUIsOneOfThem() {
        for _ in 0..<1_000 { #expect(Lanes.cpu < 4_096) }
    }

    @Test(
        arguments: [
            (0, 0), (1_000, 0), (1_001, 1), (2_000, 1), (5_000, 2), (10_000, 3), (50_000_000, 14), (50_000_001, 15),
            (.max, 15), (-1, 0),
        ] as [(Int64, Int)])
    func bucket(duration: Int64, bucket: Int) { #expect(DurationBuckets.bucket(of: duration) == bucket) }

    @Test func boundsAreThoseOfTheDocument() {
        #expect(
            (0..<16).map { DurationBuckets.bound($0).map { $0 / 1_000 } } == [
                1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, nil,
            ])
    }

    @Test func durationsArePublishedOnce() {
        let cell = DurationLane()
        let opened = [cell.open(), cell.open()]
        #expect(opened == [true, false])
        cell.add(1_500)
        cell.add(60_000_000)
        let published = PrivateCells(words: BoardKind.durations.words)
        cell.publish(to: published.words(from: 0))
        cell.publish(to: published.words(from: 0))
        let buckets = DurationBuckets(published.words(from: 0))
        #expect(buckets.calls[1] == 1 && buckets.calls[15] == 1 && buckets.calls.reduce(0, +) == 2)
        #expect(buckets.sum == 60_001_500)
    }
}

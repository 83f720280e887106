import BreakerTestSupport
import Testing

@testable import BreakerStore

/// Failure rates that several processes have together: a process that sees the rate reached asks the others.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct AskingProcessTests {
    private static let rule = "rate=0.5 minimum=20 window=20"

    /// Half of the calls fail, no more: it does not matter which call was the last, nor which process has counted it.
    @Test(arguments: ["fail first", "succeed first", "alternate"]) func exactlyAtTheRateTheCircuitOpens(
        order: String
    ) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users \(Self.rule)")
        switch order {
        case "fail first":
            // The last success gives the window enough calls.
            #expect(try await workers[1].ask("fail users 10").number("failed") == 10)
            #expect(try await workers[0].ask("call users 10").number("ran") == 10)
        case "succeed first":
            #expect(try await workers[0].ask("call users 10").number("ran") == 10)
            #expect(try await workers[1].ask("fail users 10").number("failed") == 10)
        default:
            for _ in 0..<10 {
                try await workers[0].ask("call users")
                try await workers[1].ask("fail users")
            }
        }
        for worker in workers { try await worker.ask("until users open") }
        #expect(try await workers[0].ask("history users tripped").number("count") == 1)
        let reason = try #require(try await workers[0].ask("reason users")["reason"])
        #expect(reason.hasPrefix("10-of-20-calls-(50-%)-failed-within-20-s,-the-last:"), "\(reason)")
    }

    /// One success more than failures, which its process has not published when the others ask.
    @Test func oneSuccessMoreKeepsTheCircuitClosed() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(3)
        try await workers.ask("breaker users \(Self.rule)")
        for _ in 0..<5 {
            try await workers[0].ask("call users 2")
            try await workers[2].ask("call users 1")
            try await workers[1].ask("fail users 2")
        }
        #expect(try await workers[1].ask("fail users 4").number("failed") == 4)
        // 14 of 29 calls. What was asked is decided by the time the totals of all are there.
        for worker in workers { _ = try await worker.ask("totals users") }
        for worker in workers { #expect(try await worker.ask("look users")["state"] == "closed") }
        // The fifteenth of thirty.
        #expect(try await workers[2].ask("fail users").number("failed") == 1)
        for worker in workers { try await worker.ask("until users open") }
    }

    /// The last success gives the window enough calls, and is published by whoever comes first: here by a question for
    /// the totals.
    @Test func aSuccessCompletesTheWindowWhoeverPublishesIt() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        for name in ["a", "b", "c", "d"] {
            try await workers.ask("breaker \(name) \(Self.rule)")
            #expect(try await workers[1].ask("fail \(name) 10").number("failed") == 10)
            // It has looked at the failures by the time it has published a success by itself.
            try await workers[0].ask("call \(name)")
            while try await workers[1].ask("totals \(name)").number("succeeded") != 1 {}
            #expect(try await workers[0].ask("call \(name) 9").number("ran") == 9)
            _ = try await workers[0].ask("totals \(name)")
            try await workers[1].ask("until \(name) open")
        }
    }

    /// Where nobody can sleep on the board, each worker answers when it publishes.
    @Test func deafWorkersAnswerToo() async throws {
        let place = try Workplace.here
        let workers = [try place.worker(), try place.worker()]
        for worker in workers {
            try await worker.ask("forbid-shared-sleep")
            try await worker.ask("open \(place.store)")
        }
        for name in ["a", "b", "c"] {
            try await workers.ask("breaker \(name) \(Self.rule)")
            #expect(try await workers[0].ask("call \(name) 11").number("ran") == 11)
            #expect(try await workers[1].ask("fail \(name) 10").number("failed") == 10)
            for worker in workers { _ = try await worker.ask("totals \(name)") }
            for worker in workers { #expect(try await worker.ask("look \(name)")["state"] == "closed") }
            #expect(try await workers[0].ask("fail \(name)").number("failed") == 1)
            for worker in workers { try await worker.ask("until \(name) open") }
            let reason = try #require(try await workers[0].ask("reason \(name)")["reason"])
            #expect(reason.hasPrefix("11-of-22-calls-(50-%)-failed-within-20-s,-the-last:"), "\(reason)")
        }
    }

    /// A worker that is stopped can't answer: the others wait for a second and a little, and then say so.
    @Test func aStoppedWorkerIsWaitedForAndNamedInTheReason() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users \(Self.rule)")
        try await workers.ask("call users")
        #expect(await eventually { BoardReader.takenSeats(at: place.store + "-board") == 2 })
        // A seat is taken under the setup lock. This worker gets that lock now, and so the other one has released it.
        try await workers[1].ask("breaker other \(Self.rule)")
        try await workers[1].ask("fail other")
        workers[0].stop()
        defer { workers[0].goOn() }
        let began = ContinuousClock.now
        try await workers[1].ask("fail users 30")
        try await workers[1].ask("until users open")
        #expect(ContinuousClock.now - began > .seconds(1))
        let reason = try #require(try await workers[1].ask("reason users")["reason"])
        #expect(reason.contains("without-the-newest-calls-of-1-worker"), "\(reason)")
    }

    /// A worker that was killed is not waited for, and its seat is used again.
    @Test func aKilledWorkerIsNotWaitedFor() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users \(Self.rule)")
        try await workers.ask("call users")
        await workers[0].die()
        let next = try await place.openWorker()
        try await next.ask("breaker users \(Self.rule)")
        try await next.ask("call users")
        try await workers[1].ask("fail users 30")
        try await next.ask("until users open")
        let reason = try #require(try await next.ask("reason users")["reason"])
        #expect(!reason.contains("without"), "\(reason)")
        #expect(await eventually { BoardReader.takenSeats(at: place.store + "-board") == 2 })
    }

    /// There are more workers than seats: who has none is waited for, and takes a seat once one is free.
    @Test func whoHasNoSeatTakesTheNextFreeOne() async throws {
        let place = try Workplace.here
        let first = try await place.openWorker()
        try await first.ask("breaker users \(Self.rule)")
        let path = place.store + "-board"
        #expect(await eventually { BoardReader.takenSeats(at: path) == 1 })
        // Workers that live, as far as anybody can see: their bytes are locked.
        let crowd = try place.worker()
        let ids = Int64(1) << 61..<Int64(1) << 61 + Int64(SeatTable.count) - 1
        try await crowd.ask("squat \(place.store)-lock \(ids.lowerBound) \(ids.count)")
        let owner = try #require(BoardReader(at: path)).header.owner
        let board = try #require(try Board.open(at: path, of: owner))
        for id in ids { _ = try board.acquireSeat(for: WorkerID(id), isAlive: { _ in true }, making: .alone) }
        let second = try await place.openWorker()
        try await second.ask("breaker users \(Self.rule)")
        try await second.ask("call users 10")
        #expect(try await second.ask("totals users").number("succeeded") == 10)
        try await first.ask("fail users 10")
        try await second.ask("until users open")
        let reason = try #require(try await second.ask("reason users")["reason"])
        #expect(reason.contains("10-of-20-calls"), "\(reason)")
        func seated() -> Int { BoardReader.seatedWorkers(at: path).count { !ids.contains($0) } }
        #expect(seated() == 1)
        await crowd.die()
        #expect(await eventually { seated() == 2 })
    }

    /// Under a rule that asks for several workers, the failures of one reach the rate and trip nothing: that is asked,
    /// and committed, now and then, not for each failure.
    @Test func aRateThatTripsNothingIsAskedForSeldom() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users \(Self.rule) reporters=2")
        let path = place.store + "-board"
        #expect(await eventually { BoardReader.takenSeats(at: path) == 2 })
        let began = ContinuousClock.now
        for _ in 0..<400 { #expect(try await workers[1].ask("fail users")["refused"] == "0") }
        let elapsed = began.duration(to: .now)
        // Each process rests for 1, 2, 4 … 50 ms.
        let most = 2 * (7 + Int(elapsed / .milliseconds(50)))
        let asked = BoardReader.questions(at: path)
        #expect((1...most).contains(asked), "\(asked) in \(elapsed)")
        #expect(try await workers[0].ask("look users")["state"] == "closed")
        try await workers[0].ask("fail users")
        try await workers[0].ask("until users open")
    }

    /// The process that has seen the failures is killed before it decides: the one that opens the circuit has seen
    /// none, and yet the reason has their text.
    @Test func theReasonHasTheLastErrorOfWhicheverWorker() async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(2)
        try await workers.ask("breaker users \(Self.rule)")
        try await workers[0].ask("call users")
        try await workers[1].ask("die-at check.ends 1")
        _ = try? await workers[1].ask("fail users 21")
        #expect(await workers[1].end() == -9)
        try await workers[0].ask("until users open")
        let reason = try #require(try await workers[0].ask("reason users")["reason"])
        #expect(reason.contains(",-the-last:-"), "\(reason)")
    }
}

extension BoardReader {
    /// The words of the seats of the board at a path, by cells; the first cell is for all workers.
    private static func seats(at path: String) -> [[UInt64]] {
        guard let bytes = Files.read(path), let header = BoardReader(at: path)?.header,
            let segment = header.segments.first(where: { $0.kind == .seats }), segment.end <= bytes.count
        else { return [] }
        return (0...SeatTable.count).map { place in
            (0..<SeatTable.wordsOfACell).map { word in
                let start = segment.offset + (place * SeatTable.wordsOfACell + word) * 8
                return bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            }
        }
    }

    static func seatedWorkers(at path: String) -> [Int64] {
        self.seats(at: path).dropFirst().map { Int64(bitPattern: $0[0]) }.filter { $0 != 0 }
    }

    /// How many seats of the board at a path are taken.
    static func takenSeats(at path: String) -> Int { self.seatedWorkers(at: path).count }

    /// How many questions were asked on the board at a path.
    static func questions(at path: String) -> Int { self.seats(at: path).first.map { Int($0[0]) } ?? 0 }
}

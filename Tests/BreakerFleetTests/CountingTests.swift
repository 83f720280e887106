#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Testing

@testable import BreakerFleet

/// What all hosts' failures and calls add up to.
@Suite(.timeLimit(.minutes(10))) struct CountingTests {
    private static let minute: Int64 = 60_000_000

    /// Failures of a circuit `x` with numbers of their own.
    private func failures(_ numbers: ClosedRange<Int64>, worker: WorkerID = 1, age: Int64 = 0) -> [Registers.Failure] {
        numbers.map { .init(circuit: "x", failure: .init(key: .init(worker: worker, number: $0), age: age)) }
    }

    private func count(_ registers: Registers, window: Int64? = minute) throws -> Count? {
        try registers.count([.init(circuit: "x", counting: .init(failures: 5, window: window))])["x"]
    }

    @Test func pushedTwiceCountsOnce() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        let generation = try a.make("x")
        for _ in 0..<100 { try a.push(new: self.failures(1...4)) }
        #expect(try self.count(b) == Count(generation: generation, failures: 4, hosts: 1))
        try b.push(new: self.failures(1...1, worker: 2))
        #expect(try self.count(a) == Count(generation: generation, failures: 5, hosts: 2))
        // Another fleet's.
        let other = try database.registers(host: "a", fleet: "other")
        _ = try other.make("x")
        #expect(try self.count(other)?.failures == 0)
        #expect(try a.count([.init(circuit: "absent", counting: .init(failures: 1, window: 1))]).keys.isEmpty)
        #expect(try a.count([]).keys.isEmpty)
    }

    @Test func aMirrorForgetsWhatTheFileForgets() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        _ = try a.make("x")
        try a.push(new: self.failures(1...5))
        let gone = (Int64(1)...3).map { Registers.Gone(circuit: "x", key: .init(worker: 1, number: $0)) }
        // Rows of another host stay.
        try b.push(new: [], gone: gone)
        #expect(try self.count(a)?.failures == 5)
        try a.push(new: self.failures(6...6), gone: gone)
        #expect(try self.count(a)?.failures == 3)
        // What is new and gone at once is there.
        try a.push(new: self.failures(7...7), gone: [.init(circuit: "x", key: .init(worker: 1, number: 7))])
        #expect(try self.count(a)?.failures == 4)
    }

    @Test func theWindowAndTheRegisterSayWhatCounts() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        let generation = try registers.make("x")
        try registers.push(new: self.failures(1...3, age: 30_000_000))
        try registers.push(new: self.failures(4...7, age: 90_000_000))
        #expect(try self.count(registers)?.failures == 3)
        #expect(try self.count(registers, window: 2 * Self.minute)?.failures == 7)
        // Failures in a row have no window.
        #expect(try self.count(registers, window: nil)?.failures == 7)
        #expect(try registers.count([.init(circuit: "x")])["x"] == Count(generation: generation))
        // Those from before it closed do not count.
        try registers.set("since = fleet.now() - 60000000", of: "x")
        #expect(try self.count(registers, window: nil)?.failures == 3)
        // An open register counts nothing.
        #expect(try registers.perform(.trip(generation: generation, openFor: 1, reason: ""), on: "x") != .refused)
        #expect(try self.count(registers) == nil)
    }

    @Test func oddAgesAreClamped() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        try registers.push(new: self.failures(1...1, age: .max))
        try registers.push(new: self.failures(2...2, age: .min))
        #expect(try self.count(registers)?.failures == 1)
        #expect(try self.count(registers, window: nil)?.failures == 2)
        #expect(try self.count(registers, window: .max)?.failures == 1)
        #expect(try self.count(registers, window: .min) != nil)
        try registers.push(sums: [.init(circuit: "x", failed: .init(calls: .max, bad: .min), slow: nil)])
        let share = LinkedCircuit.Rate(share: 0.5, minimumCalls: 1, window: .max)
        #expect(try registers.count([.init(circuit: "x", failureRate: share)])["x"]?.failed.bad == 0)
    }

    @Test func sumsOfTheHostsAddUp() async throws {
        let database = try await TestDatabase()
        let (a, b, c) = (
            try database.registers(host: "a"), try database.registers(host: "b"), try database.registers(host: "c")
        )
        let generation = try a.make("x")
        let share = LinkedCircuit.Rate(share: 0.5, minimumCalls: 1, window: Self.minute)
        let wanted = [Registers.Wanted(circuit: "x", failureRate: share, slowRate: share)]
        try a.push(sums: [.init(circuit: "x", failed: .init(calls: 1, bad: 1), slow: .init(calls: 1, bad: 1))])
        try a.push(sums: [.init(circuit: "x", failed: .init(calls: 10, bad: 4), slow: .init(calls: 20, bad: 0))])
        try b.push(sums: [.init(circuit: "x", failed: .init(calls: 5, bad: 5), slow: .init(calls: 5, bad: 2))])
        try c.push(sums: [.init(circuit: "x", failed: .init(calls: 100, bad: 0))])
        var expected = Count(generation: generation)
        (expected.failed, expected.failedHosts) = (.init(calls: 115, bad: 9), 2)
        (expected.slow, expected.slowHosts) = (.init(calls: 25, bad: 2), 1)
        #expect(try a.count(wanted)["x"] == expected)
        // A host that was last heard before the window counts no more.
        try a.connection.run("UPDATE fleet.rate SET at = at - 61000000 WHERE host = 'b'")
        #expect(try a.count(wanted)["x"]?.failed == .init(calls: 110, bad: 4))
        try a.set("since = fleet.now()", of: "x")
        #expect(try a.count(wanted)["x"]?.failed == .init(calls: 0, bad: 0))
    }

    /// The last two failures of a rule, pushed at the same moment: one of the two hosts, at least, counts both.
    @Test func twoLastFailuresAtOnceAreSeen() async throws {
        let database = try await TestDatabase()
        let both = [try database.registers(host: "a"), try database.registers(host: "b")].map {
            SentRegisters(registers: $0)
        }
        _ = try both[0].registers.make("x")
        for round in Int64(1)...100 {
            let threads = Threads { number in
                let registers = both[number].registers
                try registers.push(new: self.failures(round...round, worker: WorkerID(Int64(number))))
                return try self.count(registers)?.failures == 2 * round
            }
            #expect(try await threads.run(2) >= 1)
        }
    }

    @Test(arguments: [-1, 1]) func aServersClockThatWasSetBreaksNoCount(_ hours: Int) async throws {
        let database = try await TestDatabase()
        let registers = try database.registers(host: "a")
        _ = try registers.make("x")
        try registers.set("since = fleet.now()", of: "x")
        try registers.push(new: self.failures(1...3))
        try database.setClock(ahead: hours * 3_600)
        try registers.push(new: self.failures(4...5))
        // The old ones are outside the window, on whichever side; the new ones count.
        #expect(try self.count(registers)?.failures == 2)
    }
}

/// Registers for one other thread at a time.
///
/// Unchecked: each round of the test gives each of them to one thread, and waits until that thread has ended.
private struct SentRegisters: @unchecked Sendable {
    let registers: Registers
}
#endif

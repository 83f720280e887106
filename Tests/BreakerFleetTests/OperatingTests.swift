#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Testing

@testable import BreakerFleet

/// What people do on one host, as it reaches the registers.
@Suite(.timeLimit(.minutes(10))) struct OperatingTests {
    private func said(_ operation: Request.Operation, number: Int64, age: Int64 = 0) -> Request {
        .operate(operation, key: .init(worker: 7, number: number), age: age, by: "ann", reason: "drill")
    }

    @Test func aResetClosesAndForgets() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        let generation = try registers.makeOpen("x")
        try registers.set("hold = 'open'", of: "x")
        let new = try #require(try registers.perform(self.said(.reset, number: 1), on: "x").generation)
        #expect(new > generation)
        let register = try #require(try registers.one("x"))
        #expect(register.state == .closed && register.trips == 0 && register.hold == nil && register.isReset)
        #expect(register.by == "ann" && register.reason == "drill" && register.left == 0 && register.openFor == 0)
    }

    /// The server carries out a statement that its client gave up, however late: it counts as of when it was sent.
    @Test func aWordThatWasStuckOnItsWayUndoesNoLaterOne() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        let sent = try registers.read(["x"]).time
        #expect(try registers.perform(self.said(.hold(.open, left: nil), number: 1), on: "x") != .refused)
        #expect(try registers.perform(self.said(.release, number: 2), on: "x", at: sent) == .refused)
        #expect(try registers.perform(self.said(.reset, number: 3), on: "x", at: sent) == .refused)
        #expect(try registers.one("x")?.hold?.state == .open)
        // A link that is mistaken about the server's time says nothing that lies ahead.
        #expect(try registers.perform(self.said(.release, number: 4), on: "x", at: sent + 3_600_000_000) != .refused)
        #expect(try registers.perform(self.said(.hold(.closed, left: nil), number: 5), on: "x") != .refused)
        #expect(try registers.one("x")?.hold?.state == .closed)
    }

    /// A failover has lost the newest commits, and a link tells them anew.
    @Test func aWordThatIsOfferedIsAsOldAsItWas() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        #expect(try registers.perform(self.said(.hold(.open, left: nil), number: 1, age: 1_000), on: "x") != .refused)
        let register = try #require(try registers.one("x"))
        #expect(register.wordAge ?? 0 >= 1_000)
        try registers.connection.run("DELETE FROM fleet.circuit")
        #expect(try registers.perform(.offer(register), on: "x") != .refused)
        #expect(try registers.one("x")?.hold?.state == .open)
        #expect(try registers.perform(self.said(.release, number: 2, age: 60_000_000), on: "x") == .refused)
        #expect(try registers.perform(self.said(.release, number: 3), on: "x") != .refused)
    }

    /// No right to probe lasts longer than ten minutes, whatever somebody has written.
    @Test func aLeaseOfTenYearsIsNone() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        let generation = try registers.makeOpen("x", for: 1)
        try registers.set(
            "lease_host = 'b', lease_ends = fleet.now() + 300000000000000, lease_for = 315360000000000", of: "x")
        #expect(try registers.one("x")?.lease == nil)
        #expect(try registers.perform(.elect(generation: generation), on: "x") != .refused)
    }

    /// A reset is as old as it is, however long it waited for the server.
    @Test func aResetThatHasWaitedIsAsOldAsItIs() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        #expect(try registers.perform(self.said(.reset, number: 1, age: 7_200_000_000), on: "x") != .refused)
        let register = try #require(try registers.one("x"))
        #expect(register.isReset && register.age >= 7_200_000_000)
    }

    @Test func aHoldLastsAndIsReleased() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        #expect(try registers.perform(self.said(.hold(.closed, left: nil), number: 1), on: "x") != .refused)
        #expect(try registers.one("x")?.hold == .init(state: .closed, left: nil, by: "ann", reason: "drill"))
        #expect(try registers.perform(self.said(.hold(.open, left: 60_000_000), number: 2), on: "x") != .refused)
        let hold = try #require(try registers.one("x")?.hold)
        #expect(hold.state == .open)
        #expect((1...60_000_000).contains(hold.left ?? 0))
        #expect(try registers.one("x")?.release == nil)
        #expect(try registers.perform(self.said(.release, number: 3), on: "x") != .refused)
        #expect(try registers.one("x")?.hold == nil)
        #expect(try registers.one("x")?.release == .init(by: "ann", reason: "drill"))
        #expect(try registers.perform(self.said(.hold(.open, left: 0), number: 4), on: "x") != .refused)
        #expect(try registers.one("x")?.hold == nil)
        // A hold that ended by itself was released by nobody.
        #expect(try registers.one("x")?.release == nil)
        #expect(try registers.one("x")?.state == .closed)
    }

    @Test func aProbeMakesAnOpenRegisterDue() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("closed")
        #expect(try registers.perform(self.said(.probe, number: 1), on: "closed") == .refused)
        let generation = try registers.makeOpen("x")
        let new = try #require(try registers.perform(self.said(.probe, number: 2), on: "x").generation)
        #expect(new > generation)
        let register = try #require(try registers.one("x"))
        #expect(register.state == .open && register.left == 0 && register.trips == 1)
        #expect(try registers.perform(.elect(generation: new), on: "x") != .refused)
    }

    @Test func eachKeyCountsOnce() async throws {
        let database = try await TestDatabase()
        let registers = try database.registers(host: "a")
        _ = try registers.make("x")
        #expect(try registers.perform(self.said(.hold(.open, left: nil), number: 1), on: "x") != .refused)
        #expect(try registers.perform(self.said(.release, number: 2), on: "x") != .refused)
        for host in ["a", "b"] {
            let again = try database.registers(host: host)
            #expect(try again.perform(self.said(.hold(.open, left: nil), number: 1), on: "x") == .refused)
        }
        #expect(try registers.one("x")?.hold == nil)
        // One that found no register is not lost.
        #expect(try registers.perform(self.said(.reset, number: 3), on: "later") == .refused)
        _ = try registers.make("later")
        #expect(try registers.perform(self.said(.reset, number: 3), on: "later") != .refused)
    }

    @Test func theLatestWordCounts() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        #expect(try registers.perform(self.said(.release, number: 1, age: 60_000_000), on: "x") != .refused)
        #expect(
            try registers.perform(self.said(.hold(.open, left: nil), number: 2, age: 30_000_000), on: "x") != .refused)
        // Said before the hold, told after it.
        #expect(try registers.perform(self.said(.release, number: 3, age: 45_000_000), on: "x") == .refused)
        #expect(try registers.one("x")?.hold?.state == .open)
        #expect(try registers.perform(self.said(.release, number: 4, age: 15_000_000), on: "x") != .refused)
    }

    @Test func aProbeOfAnOlderOutageIsTooLate() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.makeOpen("x")
        #expect(try registers.perform(self.said(.probe, number: 1, age: 60_000_000), on: "x") == .refused)
        #expect(try #require(try registers.one("x")).left > 0)
        // A hold is about the circuit, whatever its state.
        #expect(
            try registers.perform(self.said(.hold(.open, left: nil), number: 2, age: 60_000_000), on: "x") != .refused)
        #expect(try registers.perform(self.said(.probe, number: 3), on: "x") != .refused)
    }

    @Test func aResetOfAnOlderOutageEndsOlderHoldsAlone() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.makeOpen("x")
        let hold = Request.Operation.hold(.closed, left: nil)
        #expect(try registers.perform(self.said(hold, number: 1, age: 90_000_000), on: "x") != .refused)
        let before = try #require(try registers.one("x"))
        #expect(before.hold != nil)
        #expect(try registers.perform(self.said(.reset, number: 2, age: 60_000_000), on: "x") != .refused)
        let after = try #require(try registers.one("x"))
        #expect(after.hold == nil)
        #expect(after.state == .open && after.left > 0 && after.trips == before.trips && !after.isReset)
        #expect(after.reason == before.reason && after.by == before.by && after.generation > before.generation)
        // A hold that was said before the reset, and is told after it.
        #expect(try registers.perform(self.said(hold, number: 3, age: 75_000_000), on: "x") == .refused)
        #expect(try registers.perform(self.said(.reset, number: 4), on: "x") != .refused)
        #expect(try registers.one("x")?.state == .closed)
    }

    @Test func aHoldThatRacesACloseSurvives() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        let generation = try a.makeOpen("x", for: 0)
        #expect(try a.perform(.elect(generation: generation), on: "x") != .refused)
        #expect(try b.perform(self.said(.hold(.open, left: nil), number: 1), on: "x") != .refused)
        #expect(try a.perform(.verdict(generation: generation, .closed, isElected: true), on: "x") == .refused)
        #expect(try a.one("x")?.hold?.state == .open)
        // The other way round.
        let second = try a.makeOpen("y", for: 0)
        #expect(try a.perform(.verdict(generation: second, .closed, isElected: false), on: "y") != .refused)
        #expect(try b.perform(self.said(.hold(.open, left: nil), number: 2), on: "y") != .refused)
        #expect(try a.one("y")?.hold?.state == .open)
        #expect(try a.one("y")?.state == .closed)
    }

    @Test func longAndStrangeTextsAreKept() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        let text = "'; DROP SCHEMA fleet; --\0\u{1F600}" + String(repeating: "x", count: 5_000)
        let request = Request.operate(.reset, key: .init(worker: .min, number: .max), age: .max, by: text, reason: nil)
        // Said ten years ago, but the register has been closed for ever.
        #expect(try registers.perform(request, on: "x") != .refused)
        let register = try #require(try registers.one("x"))
        #expect(register.by?.hasPrefix("'; DROP SCHEMA fleet; --\u{FFFD}\u{1F600}xxx") == true)
        #expect(register.by?.unicodeScalars.count == 1_000)
        #expect(register.reason == nil)
    }
}
#endif

#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Testing

@testable import BreakerFleet

/// What people do on one host, as it reaches the registers.
@Suite(.timeLimit(.minutes(10))) struct OperatingTests {
    @Test func aResetClosesAndForgets() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        let generation = try registers.makeOpen("x")
        #expect(try registers.say(.hold(.open, for: nil), on: "x") != .refused)
        #expect(try registers.one("x")?.hold?.hold == .open)
        let new = try #require(try registers.say(.reset, on: "x").generation)
        #expect(new > generation)
        let register = try #require(try registers.one("x"))
        #expect(register.state == .closed && register.trips == 0 && register.hold == nil)
        #expect(register.command(.reset)?.by == "ann" && register.command(.reset)?.reason == "drill")
        #expect(register.by == "ann" && register.reason == "drill" && register.left == 0 && register.openFor == 0)
    }

    /// Telling a word twice, as each link does that does not know of the other, changes nothing.
    @Test func eachCommandCountsOnce() async throws {
        let database = try await TestDatabase()
        let registers = try database.registers(host: "a")
        _ = try registers.make("x")
        let hold = try registers.command(.hold(.open, for: nil))
        #expect(try registers.perform(.send(hold), on: "x") != .refused)
        let before = try registers.one("x")?.generation
        #expect(try database.registers(host: "b").perform(.send(hold), on: "x") == .refused)
        // Words and generations say nothing about each other.
        #expect(try registers.one("x")?.generation == before)
        #expect(try registers.say(.release, on: "x") != .refused)
        #expect(try registers.perform(.send(hold), on: "x") == .refused)
        #expect(try registers.one("x")?.hold == nil)
        // One that found no register is not lost.
        let reset = try registers.command(.reset)
        #expect(try registers.perform(.send(reset), on: "later") == .refused)
        _ = try registers.make("later")
        #expect(try registers.perform(.send(reset), on: "later") != .refused)
    }

    /// Of words of the same time the number decides, in whichever order they come.
    @Test(arguments: [[1, 2], [2, 1]] as [[Int64]]) func ofEqualTimesTheNumberDecides(order: [Int64]) async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        var command = try registers.command(.hold(.open, for: nil))
        for number in order {
            (command.number, command.by) = (number, "\(number)")
            _ = try registers.perform(.send(command), on: "x")
        }
        #expect(try registers.one("x")?.hold?.by == "2")
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
        #expect(try registers.say(.reset, age: 7_200_000_000, on: "x") != .refused)
        let register = try #require(try registers.one("x"))
        #expect(register.age >= 7_200_000_000 && register.command(.reset)?.age ?? 0 >= 7_200_000_000)
    }

    @Test func aHoldLastsAndIsReleased() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        #expect(try registers.say(.hold(.closed, for: nil), on: "x") != .refused)
        var hold = try #require(try registers.one("x")?.hold)
        #expect(hold.hold == .closed && hold.left == nil && hold.by == "ann" && hold.reason == "drill")
        #expect(try registers.say(.hold(.open, for: 60_000_000), on: "x") != .refused)
        hold = try #require(try registers.one("x")?.hold)
        #expect(hold.hold == .open)
        #expect((1...60_000_000).contains(hold.left ?? 0))
        #expect(try registers.say(.release, on: "x") != .refused)
        let register = try #require(try registers.one("x"))
        #expect(register.hold == nil)
        #expect(register.command(.hold)?.by == "ann" && register.command(.hold)?.reason == "drill")
        #expect(try registers.say(.hold(.open, for: 0), on: "x") != .refused)
        #expect(try registers.one("x")?.hold == nil)
        #expect(try registers.one("x")?.state == .closed)
    }

    @Test func aProbeMakesAnOpenRegisterDue() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("closed")
        #expect(try registers.say(.probe, on: "closed") == .refused)
        let generation = try registers.makeOpen("x")
        let new = try #require(try registers.say(.probe, on: "x").generation)
        #expect(new > generation)
        let register = try #require(try registers.one("x"))
        #expect(register.state == .open && register.left == 0 && register.trips == 1)
        #expect(try registers.perform(.elect(generation: new), on: "x") != .refused)
    }

    /// The server carries out a statement that its client gave up, however late: a word has its own time.
    @Test func theLatestCommandCounts() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        #expect(try registers.say(.release, age: 60_000_000, on: "x") != .refused)
        #expect(try registers.say(.hold(.open, for: nil), age: 30_000_000, on: "x") != .refused)
        // Said before the hold, told after it.
        #expect(try registers.say(.release, age: 45_000_000, on: "x") == .refused)
        #expect(try registers.one("x")?.hold?.hold == .open)
        // A reset is of another kind: it is noted, and the hold is newer.
        #expect(try registers.say(.reset, age: 45_000_000, on: "x") != .refused)
        #expect(try registers.one("x")?.hold?.hold == .open)
        #expect(try registers.say(.release, age: 15_000_000, on: "x") != .refused)
        #expect(try registers.one("x")?.hold == nil)
    }

    @Test func aProbeOfAnOlderOutageIsTooLate() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.makeOpen("x")
        #expect(try registers.say(.probe, age: 60_000_000, on: "x") == .refused)
        #expect(try #require(try registers.one("x")).left > 0)
        // A hold is about the circuit, whatever its state.
        #expect(try registers.say(.hold(.open, for: nil), age: 60_000_000, on: "x") != .refused)
        #expect(try registers.say(.probe, on: "x") != .refused)
    }

    @Test func aResetOfAnOlderOutageEndsOlderHoldsAlone() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.makeOpen("x")
        let hold = Saying.hold(.closed, for: nil)
        #expect(try registers.say(hold, age: 90_000_000, on: "x") != .refused)
        let before = try #require(try registers.one("x"))
        #expect(before.hold != nil)
        #expect(try registers.say(.reset, age: 60_000_000, on: "x") != .refused)
        var after = try #require(try registers.one("x"))
        #expect(after.hold == nil)
        #expect(after.state == .open && after.left > 0 && after.trips == before.trips)
        #expect(after.reason == before.reason && after.by == before.by && after.generation == before.generation)
        // A hold that was said before the reset, and is told after it, is noted and over.
        #expect(try registers.say(hold, age: 75_000_000, on: "x") != .refused)
        #expect(try registers.one("x")?.hold == nil)
        // A newer one stays over an older reset.
        #expect(try registers.say(hold, age: 30_000_000, on: "x") != .refused)
        #expect(try registers.say(.reset, age: 45_000_000, on: "x") != .refused)
        after = try #require(try registers.one("x"))
        #expect(after.hold?.hold == .closed)
        #expect(try registers.say(.reset, on: "x") != .refused)
        #expect(try registers.one("x")?.state == .closed && registers.one("x")?.hold == nil)
    }

    /// Somebody has set the server's clock forward and back: the word stays, and a later one beats it.
    @Test func aCommandFromTheFutureIsBeatenByALaterOne() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        var command = try registers.command(.hold(.open, for: 60_000_000))
        command.lamportTime = (command.lamportTime ?? 0) + 3_600_000_000
        #expect(try registers.perform(.send(command), on: "x") != .refused)
        #expect(try registers.one("x")?.hold?.left == 60_000_000)
        #expect(try registers.say(.release, on: "x") == .refused)
        (command.hold, command.lamportTime) = (nil, (command.lamportTime ?? 0) + 1)
        #expect(try registers.perform(.send(command), on: "x") != .refused)
        #expect(try registers.one("x")?.hold == nil)
    }

    @Test func aHoldThatRacesACloseSurvives() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        let generation = try a.makeOpen("x", for: 0)
        #expect(try a.perform(.elect(generation: generation), on: "x") != .refused)
        #expect(try b.say(.hold(.open, for: nil), on: "x") != .refused)
        // The right to probe went with the hold.
        #expect(try a.perform(.verdict(generation: generation, .closed, isElected: true), on: "x") == .refused)
        #expect(try a.one("x")?.hold?.hold == .open)
        // The other way round.
        let second = try a.makeOpen("y", for: 0)
        #expect(try a.perform(.verdict(generation: second, .closed, isElected: false), on: "y") != .refused)
        #expect(try b.say(.hold(.open, for: nil), on: "y") != .refused)
        #expect(try a.one("y")?.hold?.hold == .open)
        #expect(try a.one("y")?.state == .closed)
    }

    @Test func longAndStrangeTextsAreKept() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        _ = try registers.make("x")
        let text = "'; DROP SCHEMA fleet; --\0\u{1F600}" + String(repeating: "x", count: 5_000)
        // Said in 1970, but the register has been closed for ever.
        let command = OperatorCommand(kind: .reset, number: .max, lamportTime: 0, age: .max, by: text)
        #expect(try registers.perform(.send(command), on: "x") != .refused)
        let register = try #require(try registers.one("x"))
        #expect(register.by?.hasPrefix("'; DROP SCHEMA fleet; --\u{FFFD}\u{1F600}xxx") == true)
        #expect(register.by?.unicodeScalars.count == 1_000)
        #expect(register.reason == nil)
    }
}
#endif

#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Testing

@testable import BreakerFleet

/// Each request, and what refuses it.
@Suite(.timeLimit(.minutes(10))) struct RequestTests {
    @Test func aTripOpensAClosedRegister() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        let generation = try registers.make("x")
        try registers.push(new: [.init(circuit: "x", failure: .init(key: .init(worker: 1, number: 1), age: 0))])
        try registers.push(sums: [.init(circuit: "x", failed: .init(calls: 9, bad: 3))])
        let trip = Request.trip(generation: generation, openFor: 60_000_000, reason: "5 failures of 2 hosts")
        #expect(try registers.perform(.trip(generation: generation - 1, openFor: 1, reason: ""), on: "x") == .refused)
        #expect(try registers.perform(trip, on: "absent") == .refused)
        let new = try #require(try registers.perform(trip, on: "x").generation)
        #expect(new > generation)
        let register = try #require(try registers.one("x"))
        #expect(register.generation == new)
        #expect(register.state == .open)
        #expect((1...60_000_000).contains(register.left))
        #expect(register.openFor == 60_000_000)
        #expect(register.trips == 1)
        #expect(register.reason == "5 failures of 2 hosts")
        #expect(try registers.perform(trip, on: "x") == .refused)
        #expect(try registers.perform(.trip(generation: new, openFor: 1, reason: ""), on: "x") == .refused)
        // What led there is gone.
        let rows = try registers.connection.run("SELECT 1 FROM fleet.failure UNION ALL SELECT 1 FROM fleet.rate")
        #expect(rows.isEmpty)
    }

    @Test func anElectionNeedsADueRegisterThatNobodyProbes() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        let generation = try a.makeOpen("x")
        #expect(try a.perform(.elect(generation: generation), on: "x") == .refused)
        try a.set("open_until = fleet.now()", of: "x")
        #expect(try a.perform(.elect(generation: generation - 1), on: "x") == .refused)
        try a.set("hold = 'open', hold_said = 1, hold_number = 1", of: "x")
        #expect(try a.perform(.elect(generation: generation), on: "x") == .refused)
        // A hold that is older than a reset is over, and one for a time ends by each host's own clock.
        try a.set("reset_said = fleet.now(), reset_number = 1", of: "x")
        #expect(try a.perform(.elect(generation: generation), on: "x") != .refused)
        try a.set(
            "reset_said = NULL, reset_number = NULL, lease_host = NULL, lease_ends = NULL, lease_for = NULL", of: "x")
        try a.set("hold = 'closed', hold_said = fleet.now() - 1000000000, hold_for = 2000000000", of: "x")
        #expect(try a.perform(.elect(generation: generation), on: "x") == .accepted(generation: generation))
        #expect(try b.one("x")?.lease?.host == "a")
        #expect(try b.perform(.elect(generation: generation), on: "x") == .refused)
        #expect(try a.perform(.elect(generation: generation), on: "x") == .accepted(generation: generation))
        try a.set("lease_ends = fleet.now()", of: "x")
        #expect(try b.one("x")?.lease == nil)
        #expect(try b.perform(.elect(generation: generation), on: "x") == .accepted(generation: generation))
        #expect(try a.perform(.elect(generation: generation), on: "x") == .refused)
        let closed = try a.make("closed")
        #expect(try a.perform(.elect(generation: closed), on: "closed") == .refused)
    }

    @Test func aLeaseIsRenewedAndReturnedByItsHostAlone() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        let generation = try a.makeOpen("x", for: 0)
        #expect(try a.perform(.renew(generation: generation), on: "x") == .refused)
        #expect(try a.perform(.elect(generation: generation), on: "x") != .refused)
        try a.set("lease_ends = fleet.now() + 1000000", of: "x")
        #expect(try b.perform(.renew(generation: generation), on: "x") == .refused)
        #expect(try b.perform(.yield(generation: generation), on: "x") == .refused)
        #expect(try a.perform(.renew(generation: generation), on: "x") == .accepted(generation: generation))
        #expect(try #require(try a.one("x")?.lease).left > 1_000_000)
        #expect(try a.perform(.yield(generation: generation - 1), on: "x") == .refused)
        #expect(try a.perform(.yield(generation: generation), on: "x") == .accepted(generation: generation))
        #expect(try a.one("x")?.lease == nil)
        #expect(try b.perform(.elect(generation: generation), on: "x") != .refused)
    }

    @Test func aVerdictNeedsTheLease() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        let first = try a.makeOpen("x", for: 0)
        #expect(try a.perform(.verdict(generation: first, .closed, isElected: true), on: "x") == .refused)
        #expect(try a.perform(.elect(generation: first), on: "x") != .refused)
        #expect(try b.perform(.verdict(generation: first, .closed, isElected: true), on: "x") == .refused)
        #expect(try b.perform(.verdict(generation: first, .closed, isElected: false), on: "x") == .refused)
        let again = Request.verdict(generation: first, .open(for: 9_000_000), isElected: true)
        let second = try #require(try a.perform(again, on: "x").generation)
        let open = try #require(try a.one("x"))
        #expect(open.state == .open && open.trips == 2 && open.openFor == 9_000_000 && open.lease == nil)
        #expect(try a.perform(again, on: "x") == .refused)
        // Without the lease: once it is due.
        let own = Request.verdict(generation: second, .closed, isElected: false)
        #expect(try b.perform(own, on: "x") == .refused)
        try a.set("open_until = fleet.now()", of: "x")
        let third = try #require(try b.perform(own, on: "x").generation)
        let closed = try #require(try a.one("x"))
        #expect(closed.state == .closed && closed.trips == 0 && closed.generation == third && third > second)
        #expect(closed.age < 60_000_000)
        #expect(closed.reason == "a probe of b succeeded")
    }

    @Test func anOfferKeepsItsGeneration() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        let register = Register(
            name: "x", generation: 77, state: .open, age: 3_000_000, left: 50_000_000, openFor: 60_000_000, trips: 3,
            reason: "why", by: "ann")
        #expect(try a.perform(.offer(register), on: "x") == .accepted(generation: 77))
        var found = try #require(try b.one("x"))
        #expect((3_000_000...60_000_000).contains(found.age))
        #expect((1...50_000_000).contains(found.left))
        (found.age, found.since, found.left) = (register.age, register.since, register.left)
        #expect(found == register)
        // Not one that is known already, and none that is older.
        #expect(try b.perform(.offer(register), on: "x") == .refused)
        var later = Register(name: "x", generation: 76, state: .closed, age: 0)
        #expect(try b.perform(.offer(later), on: "x") == .refused)
        later.generation = 78
        #expect(try b.perform(.offer(later), on: "x") == .accepted(generation: 78))
        let closed = try #require(try a.one("x"))
        #expect(closed.state == .closed && closed.trips == 0)
        // Words are told by themselves: an offer leaves them alone.
        #expect(try a.say(.hold(.open, for: nil), on: "x") != .refused)
        later.generation = 79
        #expect(try b.perform(.offer(later), on: "x") == .accepted(generation: 79))
        #expect(try a.one("x")?.hold?.hold == .open)
        for generation in [Int64.min, 0, .max] {
            later.generation = generation
            #expect(try b.perform(.offer(later), on: "x") == .refused)
        }
        // Numbers that no register has do no harm.
        let odd = Register(
            name: "y", generation: 5, state: .open, age: .max, left: .max, openFor: -1, trips: .max)
        #expect(try a.perform(.offer(odd), on: "y") == .accepted(generation: 5))
        #expect(try #require(try a.one("y")).left > 1_000_000_000_000)
    }

    @Test func transitionsAreNotified() async throws {
        let database = try await TestDatabase()
        let a = try database.registers(host: "a")
        let b = try database.registers(host: "b")
        let wakeUp = try WakeUp()
        try b.listen()
        let generation = try a.makeOpen("x y", for: 0)
        #expect(try b.connection.wait(for: .hangLimit, orWoken: wakeUp) == .server)
        #expect(b.changed(by: b.connection.drainNotifications()) == ["x y"])
        // The right to probe is told to nobody.
        #expect(try a.perform(.elect(generation: generation), on: "x y") != .refused)
        #expect(try b.connection.wait(for: .milliseconds(100), orWoken: wakeUp) == .time)
        #expect(try database.registers(host: "c", fleet: "other").changed(by: ["default\u{1F}x"]) == [])
        #expect(b.changed(by: ["default\u{1F}x", "default"]) == nil)
        #expect(b.changed(by: [""]) == nil)
        #expect(b.payload(for: String(repeating: "x", count: 8_000)) == "default")
        let long = Registers(a.connection, fleet: String(repeating: "f", count: 8_000), host: "a")
        #expect(long.payload(for: "x").isEmpty)
    }

    // MARK: - Races

    @Test(arguments: [true, false]) func ofEightThatRaceOneIsAccepted(isTrip: Bool) async throws {
        let database = try await TestDatabase()
        let registers = try database.registers(host: "a")
        let generation = try isTrip ? registers.make("x") : registers.makeOpen("x", for: 0)
        let trip = Request.trip(generation: generation, openFor: 60_000_000, reason: "race")
        let requests = Array(repeating: isTrip ? trip : .elect(generation: generation), count: 8)
        #expect(try await self.race(requests, on: database) == 1)
        #expect(try registers.one("x")?.trips == 1)
    }

    /// How many hosts of those that each make a request at once are accepted.
    private func race(_ requests: [Request], on database: TestDatabase) async throws -> Int {
        // A row lock holds all of them back until the last has sent its request.
        let gate = try database.connect()
        // Within a transaction, pg_stat_activity stays as it was.
        let watcher = try database.connect()
        try gate.run("BEGIN")
        try gate.run("SELECT 1 FROM fleet.circuit WHERE name = 'x' FOR UPDATE")
        let accepted = Threads { number in
            try database.registers(host: "host \(number)").perform(requests[number], on: "x") != .refused
        }
        async let count = accepted.run(requests.count)
        let waiting = """
            SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            """
        while try (watcher.run(waiting).first?.number(0) ?? 0) < requests.count {
            try await Task.sleep(for: .milliseconds(5))
        }
        try gate.run("COMMIT")
        return try await count
    }
}
#endif

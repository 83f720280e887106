#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Testing

@testable import BreakerFleet

/// The schema, who may do what in it, and how it stays small.
@Suite(.timeLimit(.minutes(10))) struct SchemaTests {
    @Test func theVersionIsChecked() async throws {
        let registers = Registers(try await TestDatabase(withSchema: false).connect(), fleet: "default", host: "a")
        func refusal() -> FleetError? { #expect(throws: FleetError.self) { try registers.checkSchema() } }
        #expect(refusal()?.code == .wrongSchema)
        #expect(#expect(throws: FleetError.self) { try registers.read(["x"]) }?.code == .wrongSchema)
        // Made twice, it stays.
        try FleetSchema.install(on: registers.connection)
        try FleetSchema.install(on: registers.connection)
        try registers.checkSchema()
        try registers.connection.run("UPDATE fleet.meta SET version = 2007")
        try registers.checkSchema()
        for version in [3_000, 1_000] {
            try registers.connection.run("UPDATE fleet.meta SET version = $1::integer", [String(version)])
            #expect(refusal()?.code == .wrongSchema)
        }
        try registers.connection.run("DELETE FROM fleet.meta")
        #expect(refusal()?.code == .wrongSchema)
    }

    // MARK: - Links

    @Test func oneFileHasAHostsName() async throws {
        let database = try await TestDatabase()
        let registers = try database.registers(host: "a")
        try registers.insertMissing(["x"])
        let first = Registers.Link(session: 1, file: "one", program: "p")
        let other = Registers.Link(session: 2, file: "two", program: "p")
        let reading = try registers.beat(first, reading: ["x"])
        #expect(reading.registers.map(\.name) == ["x"])
        try await untilNothingIsNew(reading) { try registers.beat(first, reading: ["x"], changedSince: $0) }
        // Another link of the same file takes over.
        _ = try registers.beat(.init(session: 3, file: "one", program: "p"), reading: [])
        let error = #expect(throws: FleetError.self) { try registers.beat(other, reading: []) }
        #expect(error?.code == .duplicateHost)
        _ = try database.registers(host: "b").beat(other, reading: [])
        // Once the first one is silent for five seconds, or has left.
        try registers.connection.run("UPDATE fleet.link SET beat = beat - 5000000 WHERE host = 'a'")
        _ = try registers.beat(other, reading: [])
        #expect(#expect(throws: FleetError.self) { try registers.beat(first, reading: []) }?.code == .duplicateHost)
        try registers.leave(first)
        #expect(#expect(throws: FleetError.self) { try registers.beat(first, reading: []) }?.code == .duplicateHost)
        try registers.leave(other)
        _ = try registers.beat(first, reading: [])
        // A server's clock that was set back keeps nobody out.
        try database.setClock(ahead: -1 * 3_600)
        _ = try registers.beat(other, reading: [])
    }

    /// A host is its file: under another name it is the same host, and what it told by the old one is gone at once.
    @Test func aRenamedHostCountsOnce() async throws {
        let database = try await TestDatabase()
        let (old, new) = (try database.registers(host: "old"), try database.registers(host: "new"))
        try old.insertMissing(["x"])
        var link = Registers.Link(session: 1, file: "7", place: "here", program: "p")
        _ = try old.beat(link, reading: [])
        func failure(_ number: Int64) -> Registers.Failure {
            .init(circuit: "x", failure: .init(key: .init(worker: 1, number: number), age: 0))
        }
        try old.push(new: [failure(1)], of: "7")
        try old.push(sums: [.init(circuit: "x", failed: .init(calls: 2, bad: 1))], of: "7")
        link.session = 2
        _ = try new.beat(link, reading: [])
        try new.push(new: [failure(2)], of: "7")
        let rule = LinkedCircuit.Counting(failures: 9, window: 60_000_000)
        #expect(try new.count([.init(circuit: "x", counting: rule)])["x"]?.hosts == 1)
        try new.forgetPushed(by: link)
        #expect(try new.count([.init(circuit: "x", counting: rule)])["x"]?.failures == 0)
        #expect(try new.connection.run("SELECT 1 FROM fleet.rate").isEmpty)
        #expect(try new.hosts().map(\.name) == ["new"])
        // A file that takes the place of another, as after a set-aside, is the same place's.
        link.file = "8"
        _ = try new.beat(link, reading: [])
        #expect(try new.hosts().map(\.name) == ["new"])
    }

    /// Somebody has copied a file to another machine: the copy's link is told so, and has changed nothing.
    @Test func theCopyOfAFileStaysOutside() async throws {
        let database = try await TestDatabase()
        let (a, b) = (try database.registers(host: "a"), try database.registers(host: "b"))
        _ = try a.beat(.init(session: 1, file: "7", place: "here", program: "p"), reading: [])
        let copy = Registers.Link(session: 2, file: "7", place: "there", program: "p")
        let error = #expect(throws: FleetError.self) { try b.beat(copy, reading: []) }
        #expect(error?.code == .duplicateHost && error?.message.contains("a copy of that of host 'a'") == true)
        #expect(try b.hosts().map(\.name) == ["a"])
        // Once the original is gone, the copy is the file.
        try a.connection.run("UPDATE fleet.link SET beat = beat - 5000000")
        _ = try b.beat(copy, reading: [])
    }

    @Test func whatIsRefusedToALinkIsReportedToAll() async throws {
        let registers = try await TestDatabase().registers(host: "a")
        var link = Registers.Link(session: 1, file: "7", program: "p")
        link.trouble = "can't send a change to the server: no"
        _ = try registers.beat(link, reading: [])
        #expect(try registers.hosts().map(\.trouble) == ["can't send a change to the server: no"])
        // Since it began, whatever the link says of it by now.
        try registers.connection.run("UPDATE fleet.link SET trouble_since = trouble_since - 60000000")
        link.trouble = "can't apply a command from the other hosts: neither"
        _ = try registers.beat(link, reading: [])
        #expect(try registers.hosts().map(\.trouble) == ["can't apply a command from the other hosts: neither"])
        #expect(try registers.hosts().allSatisfy { $0.troubleFor ?? 0 >= 60_000_000 })
        link.trouble = nil
        _ = try registers.beat(link, reading: [])
        #expect(try registers.hosts().map(\.trouble) == [nil])
        #expect(try registers.hosts().map(\.troubleFor) == [nil])
    }

    @Test func differingRulesAreReported() async throws {
        let database = try await TestDatabase()
        let hosts = try ["a", "b", "c"].map { try database.registers(host: $0) }
        func beat(_ number: Int, _ rules: ByName<String>?) throws {
            let link = Registers.Link(session: 1, file: "\(number)", program: "p")
            _ = try hosts[number].beat(link, rules: rules, reading: [])
        }
        try beat(0, ["x": "5 in 60 s", "y": "1"])
        try beat(1, ["x": "5 in 60 s", "z": "2"])
        try beat(2, ["x": "9 in 60 s", "y": "1"])
        let differing = ["a", "b", "c"].map { host in
            FleetStatus.Rule(circuit: "x", host: host, rule: host == "c" ? "9 in 60 s" : "5 in 60 s")
        }
        #expect(try hosts[0].differingRules() == differing)
        // Not told anew, they stay.
        try beat(2, nil)
        #expect(try hosts[1].differingRules() == differing)
        try beat(2, ["x": "5 in 60 s"])
        #expect(try hosts[0].differingRules().isEmpty)
    }

    // MARK: - Growth

    @Test func aSweepKeepsWhatIsNeeded() async throws {
        let database = try await TestDatabase()
        let (a, other) = (try database.registers(host: "a"), try database.registers(host: "a", fleet: "other"))
        for registers in [a, other] {
            try registers.insertMissing(["mine", "idle", "used"])
            for (number, circuit) in ["mine", "idle"].enumerated() {
                let key = LinkedCircuit.Key(worker: 1, number: Int64(number))
                try registers.push(new: [.init(circuit: circuit, failure: .init(key: key, age: 0))])
                try registers.push(sums: [.init(circuit: circuit)])
            }
            _ = try registers.beat(.init(session: 1, file: "f", program: "p"), reading: [])
        }
        func counts(_ fleet: String) throws -> [Int64?] {
            try ["circuit", "failure", "rate", "link"].map { table in
                try a.connection.run("SELECT count(*) FROM fleet.\(table) WHERE fleet = $1", [fleet]).first?.number(0)
            }
        }
        let day: Int64 = 86_400_000_000
        try a.sweep(having: ["mine"], longestWindow: day, forgetIdleAfter: day)
        #expect(try counts("default") == [3, 2, 2, 1])
        // A little over a day later; one of the failures is of a rule with two days.
        for (table, stamp) in [("failure", "at"), ("rate", "at"), ("link", "beat"), ("circuit", "used")] {
            try a.connection.run(
                "UPDATE fleet.\(table) SET \(stamp) = \(stamp) - $1::bigint", [String(day + 60_000_000)])
        }
        try a.connection.run("UPDATE fleet.circuit SET used = fleet.now() WHERE name = 'used'")
        try a.sweep(having: ["mine"], longestWindow: 2 * day, forgetIdleAfter: nil)
        #expect(try counts("default") == [3, 2, 2, 1])
        try a.sweep(having: ["mine"], longestWindow: 0, forgetIdleAfter: day)
        #expect(try counts("default") == [2, 0, 0, 1])
        #expect(Set(try a.read(["mine", "idle", "used"]).registers.map(\.name)) == ["mine", "used"])
        // Another fleet's rows are its own.
        #expect(try counts("other") == [3, 2, 2, 1])
    }
}
#endif

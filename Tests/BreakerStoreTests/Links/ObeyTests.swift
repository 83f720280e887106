import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What a link has the file do reaches all processes, and only if nothing has happened meanwhile.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ObeyTests {
    private let place: Workplace
    private let store: CircuitStore

    init() throws {
        self.place = try Workplace.here
        var configuration = CircuitStore.Configuration()
        configuration.clock = self.place.clock
        configuration.busyTimeout = .hangLimit
        self.store = try CircuitStore(path: self.place.store, configuration: configuration)
    }

    private func epoch(_ name: String = "users") throws -> Epoch {
        Epoch(try #require(try self.store.circuit(named: name)).epoch)
    }

    @discardableResult
    private func obey(
        _ order: LinkOrder, on name: String = "users", reason: String? = nil
    ) throws -> Epoch? {
        let who: String? = if case .obey(let command, _, _) = order { command.by } else { nil }
        return try self.store.obey(
            order, on: name, ifEpoch: self.epoch(name), by: LinkOrder.fleet(for: who), reason: reason)
    }

    /// All that stands in the row, and what else the file has of it.
    private func bytes() throws -> String {
        let columns = CircuitColumn.allCases.map { "quote(\($0.name))" }.joined(separator: " || ',' || ")
        let row = Foreign.value(self.place.store, "SELECT \(columns) FROM circuit WHERE name = 'users'")
        let others = Foreign.value(
            self.place.store,
            """
            SELECT (SELECT count(*) FROM event) || ' ' || (SELECT count(*) FROM failure) || ' ' ||
            (SELECT count(*) FROM probe) || ' ' || (SELECT count(lamport_time) FROM command)
            """)
        return "\(try #require(row)) \(try #require(others))"
    }

    private static func command(
        _ kind: OperatorCommand.Kind, lamportTime: Int64 = 1, _ hold: HoldState? = nil, for time: Int64? = nil,
        by who: String? = nil, reason: String? = nil
    ) -> LinkOrder {
        .obey(
            OperatorCommand(
                kind: kind, number: 1, lamportTime: lamportTime, age: 0, hold: hold, holdFor: time, by: who,
                reason: reason),
            keepsTrip: false, serverTime: 0)
    }

    static let orders: [LinkOrder] = [
        .open(for: 10_000_000, trips: 1), .extend(for: 40_000_000), .close, .probe,
        Self.command(.reset), Self.command(.hold, .open),
    ]

    @Test(arguments: Self.orders, [-1, 1] as [Int64])
    func anotherEpochIsNotObeyed(order: LinkOrder, difference: Int64) throws {
        let breaker = try self.store.breaker(.init(name: "users", trip: .consecutiveFailures(2)))
        for _ in 0..<2 { breaker.recordFailure() }
        try self.store.hold("users", .closed, for: .seconds(60))
        let epoch = try self.epoch()
        let before = try self.bytes()
        let after = try self.store.obey(
            order, on: "users", ifEpoch: epoch.adding(difference), by: LinkOrder.fleet, reason: "too late")
        #expect(after == nil)
        #expect(try self.bytes() == before)
        #expect(try self.store.obey(order, on: "nobody", ifEpoch: epoch, by: nil, reason: nil) == nil)
        #expect(try self.bytes() == before)
    }

    /// All orders that apply to an open circuit do so under its own epoch, which the same test would notice.
    @Test(arguments: Self.orders) func theSameEpochIsObeyed(order: LinkOrder) throws {
        let breaker = try self.store.breaker(.init(name: "users", trip: .consecutiveFailures(1)))
        breaker.recordFailure()
        let epoch = try self.epoch()
        let before = try self.bytes()
        let after = try #require(try self.obey(order))
        #expect(try self.epoch() == after)
        #expect((after == epoch) == (order == .extend(for: 40_000_000)))
        #expect(try self.bytes() != before)
    }

    @Test func anOpenedCircuitRefusesEverywhereAndProbesItself() async throws {
        let workers = try await self.place.openWorkers(2)
        try await workers.ask("breaker users failures=5 recovery=30")
        #expect(try await workers[0].ask("call users").number("ran") == 1)
        _ = try #require(try self.obey(.open(for: 10_000_000, trips: 1), reason: "5 failures on 2 hosts"))
        for worker in workers {
            #expect(
                try await worker.ask("call users").description == "ran=0 failed=0 refused=1 cause=open wait=10000000")
        }
        self.place.clock.advance(by: .microseconds(9_999_999))
        #expect(try await workers[0].ask("call users").number("refused") == 1)
        self.place.clock.advance(by: .microseconds(1))
        #expect(try await workers[0].ask("begin users").number("ran") == 1)
        #expect(try await workers[1].ask("call users")["cause"] == "probing")
        try await workers[0].ask("finish succeed")
        #expect(try await workers[1].ask("call users").number("ran") == 1)

        let history = try await workers[0].history()
        #expect(history.map(\.kind) == [.tripped, .probing, .closed])
        #expect(history.map(\.by) == ["fleet", "", ""])
        #expect(history[0].reason == "5_failures_on_2_hosts")
        #expect(try await self.store.circuit(named: "users")?.trippedSince == nil)
    }

    @Test func anExtensionIsNoEventAndNoEpoch() async throws {
        let workers = try await self.place.openWorkers(2)
        try await workers.ask("breaker users failures=1 recovery=30")
        try await workers[0].ask("fail users")
        #expect(try await workers[1].ask("call users").number("wait") == 30_000_000)
        self.place.clock.advance(by: .seconds(20))
        let epoch = try self.epoch()
        #expect(try self.obey(.extend(for: 25_000_000)) == epoch)
        for worker in workers { #expect(try await worker.ask("call users").number("wait") == 25_000_000) }
        #expect(try self.epoch() == epoch)
        #expect(try await workers[0].history().map(\.kind) == [.tripped])
        // The file takes no circuit for open for longer than its longest recovery.
        #expect(try self.obey(.extend(for: .max)) == epoch)
        let longest = try #require(try self.store.linkedCircuits(matching: "users").first).longestRecovery
        #expect(try await workers[0].ask("call users").number("wait") == Int(longest))
    }

    @Test func aProbeOrderLetsOneProbeThrough() async throws {
        let workers = try await self.place.openWorkers(2)
        try await workers.ask("breaker users failures=1 recovery=30")
        try await workers[0].ask("fail users")
        let epoch = try self.epoch()
        let after = try #require(try self.obey(.probe))
        #expect(after > epoch)
        // It is due already: there is nothing to change.
        #expect(try self.obey(.probe) == after)
        #expect(try await workers[0].ask("begin users").number("ran") == 1)
        #expect(try await workers[1].ask("call users")["cause"] == "probing")
        try await workers[0].ask("finish fail")
        #expect(try await workers[1].ask("call users")["cause"] == "open")
        #expect(try await workers[0].history().map(\.kind) == [.tripped, .probing, .reopened])
    }

    @Test func theHistoryNamesTheFleetAndWho() throws {
        _ = try self.store.breaker(.init(name: "users"))
        try self.obey(Self.command(.hold, lamportTime: 1, .open, for: 60_000_000, by: "ann", reason: "deploy"))
        try self.obey(Self.command(.hold, lamportTime: 2))
        try self.obey(.open(for: 1, trips: 1))
        try self.obey(.close)
        try self.obey(.open(for: 1, trips: 1))
        try self.obey(Self.command(.reset, lamportTime: 3, by: "bob", reason: "done"))
        let history = try self.store.history(of: "users").reversed()
        #expect(history.map(\.kind) == [.held, .released, .tripped, .closed, .tripped, .reset])
        #expect(history.map(\.by) == ["fleet: ann", "fleet", "fleet", "fleet", "fleet", "fleet: bob"])
        #expect(history.map(\.reason) == ["deploy", nil, nil, nil, nil, "done"])
    }

    /// A text of another host must not become a row that nobody can read.
    @Test func textsAreCut() throws {
        _ = try self.store.breaker(.init(name: "users"))
        let long = String(repeating: "ä", count: 3_000_000)
        _ = try #require(try self.obey(Self.command(.hold, .open, by: long, reason: long)))
        let event = try #require(try self.store.history(of: "users").first)
        #expect(event.reason == String(repeating: "ä", count: 1_000))
        #expect(event.by?.unicodeScalars.count == 1_000)
        #expect(LinkOrder.isOfFleet(event.by))
    }

    /// A change of state survives a power loss as an operator's does; an extension need not.
    ///
    /// In a process of its own, where nobody else syncs.
    @Test func statesAreSyncedAndExtensionsAreNot() async {
        await #expect(processExitsWith: .success) {
            let fixture = try StoreFixture()
            let store = fixture.store
            _ = try fixture.breaker("users", trip: .consecutiveFailures(1))
            let syncs = Locked(0)
            Hook.install { if $0 == "sync.begin" { syncs.withLock { $0 += 1 } } }
            func count(_ order: LinkOrder) throws -> Int {
                let before = syncs.withLock { $0 }
                let epoch = Epoch(try #require(try store.circuit(named: "users")).epoch)
                _ = try #require(
                    try store.obey(order, on: "users", ifEpoch: epoch, by: LinkOrder.fleet, reason: nil))
                return syncs.withLock { $0 } - before
            }
            #expect(try count(.open(for: 10_000_000, trips: 1)) == 1)
            #expect(try count(.extend(for: 20_000_000)) == 0)
            #expect(try count(.probe) == 1)
            #expect(try count(.close) == 1)
            #expect(try count(Self.command(.hold, lamportTime: 1, .open)) == 1)
            #expect(try count(Self.command(.hold, lamportTime: 2)) == 1)
            #expect(try count(.open(for: 10_000_000, trips: 1)) == 1)
            #expect(try count(Self.command(.reset, lamportTime: 3)) == 1)
        }
    }
}

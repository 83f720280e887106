import BreakerTestSupport
import Testing

@testable import BreakerStore

/// What people say of circuits is kept for the links of all hosts, and of each kind the newest counts.
@Suite(.timeLimit(.minutes(10))) struct OperatorCommandTests {
    private static let serverTime: Int64 = 1 << 50

    private let fixture: StoreFixture
    private var store: CircuitStore { self.fixture.store }

    init() throws {
        self.fixture = try StoreFixture()
        _ = try self.fixture.breaker(trip: .consecutiveFailures(2))
    }

    private func advance(_ seconds: Int) { self.fixture.clock.advance(by: .seconds(seconds)) }

    private func seen() throws -> LinkedCircuit { try #require(try self.store.linkedCircuits(matching: "a").first) }

    private func command(_ kind: OperatorCommand.Kind) throws -> OperatorCommand? { try self.seen().command(kind) }

    @discardableResult
    private func obey(
        _ command: OperatorCommand, keepsTrip: Bool = false, serverTime: Int64 = OperatorCommandTests.serverTime
    ) throws -> Bool {
        let order = LinkOrder.obey(command, keepsTrip: keepsTrip, serverTime: serverTime)
        let who = LinkOrder.fleet(for: command.by)
        return try self.store.obey(order, on: "a", ifEpoch: self.seen().epoch, by: who, reason: nil) != nil
    }

    private func stamp(_ serverTime: Int64, notBefore: Int64 = 0) throws -> Bool {
        let epoch = try self.seen().epoch
        return try self.store.obey(
            .stamp(serverTime: serverTime, notBefore: notBefore), on: "a", ifEpoch: epoch, by: nil, reason: nil) != nil
    }

    private func kinds() throws -> [CircuitEvent.Kind] { try self.store.history(of: "a").reversed().map(\.kind) }

    // MARK: - Saying

    @Test func eachCommandTakesThePlaceOfTheOneBefore() throws {
        for _ in 0..<2 { try self.fixture.breaker(trip: .consecutiveFailures(2)).recordFailure() }
        try self.store.probe("a", by: "eve", reason: "up?")
        try self.store.hold("a", .open, for: .seconds(60), by: "ann", reason: "deploy")
        let first = try #require(try self.command(.hold))
        #expect(first.hold == .open && first.holdFor == 60_000_000 && first.lamportTime == nil && first.floor >= 1)
        #expect(first.by == "ann" && first.reason == "deploy")
        self.advance(20)
        #expect(try self.command(.hold)?.age == 20_000_000 && self.command(.hold)?.left == 40_000_000)
        try self.store.release("a", by: "bob")
        // Nobody holds the circuit any more: this says nothing.
        try self.store.release("a", by: "carl")
        let second = try #require(try self.command(.hold))
        #expect(second.hold == nil && second.by == "bob" && second.number != first.number)
        try self.store.reset("a", by: "dan")
        #expect(try self.seen().commands.map(\.kind.rawValue).sorted() == ["hold", "probe", "reset"])
        #expect(try self.command(.probe)?.by == "eve" && self.command(.reset)?.by == "dan")
    }

    /// The history keeps its newest events, and a link looks at few of them.
    @Test func aCommandIsKeptWhateverHappensLater() throws {
        try self.store.reset("a", by: "ann")
        self.advance(86_400)
        for _ in 0..<100 { try self.store.hold("a", .closed) }
        #expect(try self.command(.reset)?.by == "ann" && self.command(.reset)?.age == 86_400_000_000)
    }

    // MARK: - Stamps

    @Test func stampsRiseAsTheCommandsWereSaid() throws {
        try self.store.hold("a", .open)
        self.advance(5)
        try self.store.reset("a")
        self.advance(5)
        #expect(try self.stamp(100_000_000))
        // And for how long the store has waited for its file.
        let stamped = try #require(try self.command(.hold)?.lamportTime)
        #expect(stamped >= 90_000_000)
        #expect(try self.command(.reset)?.lamportTime == stamped + 5_000_000)
        #expect(try !self.stamp(200_000_000))
        #expect(try self.command(.hold)?.lamportTime == stamped)
    }

    /// The words have waited for a server whose clock is behind all that this host knows.
    @Test func noTwoCommandsHaveOneStamp() throws {
        for _ in 0..<20 {
            try self.store.reset("a")
            try self.store.hold("a", .open)
            #expect(try self.stamp(5, notBefore: 700_000_000_000))
            let (reset, hold) = (
                try #require(try self.command(.reset)?.stamp), try #require(try self.command(.hold)?.stamp)
            )
            #expect(reset.lamportTime < hold.lamportTime)
        }
    }

    /// A later release may know other kinds; each of ours is seen beside them.
    @Test func aCommandOfAnotherKindIsLeftAlone() throws {
        for number in 0..<5 {
            Foreign.run(
                self.store.path,
                "INSERT INTO command VALUES (1, 'a kind \(number)', 1, NULL, 0, \(number), NULL, NULL, NULL, NULL)")
        }
        try self.store.hold("a", .open)
        #expect(try self.stamp(1) && !self.stamp(1))
        #expect(try self.seen().commands.map(\.kind) == [.hold])
        #expect(try !self.obey(OperatorCommand(kind: .hold, number: 1, lamportTime: 0)))
    }

    /// A program has written stamps far after the server's time: they are damage, and no word of theirs is taken over.
    @Test func aStampFarAheadIsNotTakenOver() throws {
        let latest = Self.serverTime + OperatorCommand.maxLead
        for stamp in [-1, .min, latest + 1, OperatorCommand.sendable.upperBound, .max] {
            #expect(try !self.obey(OperatorCommand(kind: .hold, number: 9, lamportTime: stamp, hold: .open)))
        }
        #expect(try self.obey(OperatorCommand(kind: .hold, number: .max, lamportTime: latest, hold: .open)))
        // What is said here is later, and can be sent.
        try self.store.release("a")
        #expect(try self.stamp(Self.serverTime + 1))
        #expect(try self.command(.hold)?.hold == nil && self.command(.hold)?.lamportTime == latest + 1)
        #expect(OperatorCommand.credibleStamps(at: Self.serverTime + 1).contains(latest + 1))
        let old = OperatorCommand(kind: .hold, number: .max, lamportTime: latest, hold: .open)
        #expect(try !self.obey(old, serverTime: Self.serverTime + 1))
        #expect(try self.seen().hold == nil)
    }

    /// The file has taken over a word before the server's clock was set right, or by 0.5.0.
    @Test(arguments: [serverTime + OperatorCommand.maxLead + 3_600_000_000, OperatorCommand.sendable.upperBound])
    func aCommandWithADamagedStampGivesWayToEachOther(stamp: Int64) throws {
        let damaged = OperatorCommand(kind: .hold, number: .max, lamportTime: stamp, hold: .open, by: "mallory")
        func obeyDamaged() throws {
            #expect(try self.obey(damaged, serverTime: OperatorCommand.sendable.upperBound))
            #expect(try self.seen().hold?.state == .open)
        }
        try obeyDamaged()
        // One of another host, however old.
        #expect(try self.obey(OperatorCommand(kind: .hold, number: 1, lamportTime: 100, hold: .closed)))
        #expect(try self.seen().hold?.state == .closed)
        // A reset ends its hold.
        try obeyDamaged()
        #expect(try self.obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 101)))
        #expect(try self.seen().hold == nil)
        // One of this host, which gets the server's time.
        #expect(try self.command(.hold)?.lamportTime == stamp)
        try self.store.reset("a")
        try self.store.hold("a", .closed)
        #expect(try self.stamp(Self.serverTime))
        let (reset, hold) = (
            try #require(try self.command(.reset)?.stamp), try #require(try self.command(.hold)?.stamp)
        )
        #expect(reset < hold)
        #expect((Self.serverTime...Self.serverTime + 600_000_000).contains(hold.lamportTime))
    }

    @Test func aStampIsNotBeforeWhatItsHostHadObeyed() throws {
        try self.store.reset("a")
        #expect(try self.stamp(1, notBefore: 700_000_000_000))
        #expect(try self.command(.reset)?.lamportTime == 700_000_000_000)
    }

    /// Somebody has set the server's clock back: what is said later stays later.
    @Test func aCommandIsLaterThanAllThatItsHostKnew() throws {
        #expect(try self.obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 500_000_000, age: 0)))
        try self.store.hold("a", .open)
        self.advance(1)
        try self.store.reset("a")
        #expect(try self.stamp(3))
        let (hold, reset) = (try #require(try self.command(.hold)), try #require(try self.command(.reset)))
        #expect(hold.lamportTime ?? 0 > 500_000_000)
        #expect(reset.lamportTime ?? 0 > hold.lamportTime ?? 0)
    }

    // MARK: - Obeying

    @Test func anOlderCommandChangesNothing() throws {
        #expect(
            try self.obey(OperatorCommand(kind: .hold, number: 5, lamportTime: 100, age: 0, hold: .open, by: "ann")))
        let before = try self.seen()
        for (lamportTime, number) in [(99, 9), (100, 4), (100, 5)] as [(Int64, Int64)] {
            #expect(try !self.obey(OperatorCommand(kind: .hold, number: number, lamportTime: lamportTime, age: 0)))
        }
        #expect(try self.seen() == before)
        #expect(before.hold?.by == "fleet: ann" && before.command(.hold)?.by == "ann")
        #expect(try self.obey(OperatorCommand(kind: .hold, number: 6, lamportTime: 100, age: 0)))
        #expect(try self.seen().hold == nil)
    }

    /// What was said here goes to the other hosts before anything of theirs is heard.
    @Test func anUnstampedCommandIsNotOverruled() throws {
        try self.store.hold("a", .closed, by: "ann")
        #expect(try !self.obey(OperatorCommand(kind: .hold, number: 1, lamportTime: 1 << 50, age: 0, hold: .open)))
        #expect(try self.seen().hold?.by == "ann")
    }

    @Test func aHoldThatIsOlderThanAResetHoldsNobody() throws {
        #expect(try self.obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 100, age: 0)))
        #expect(try self.obey(OperatorCommand(kind: .hold, number: 2, lamportTime: 99, age: 0, hold: .open)))
        #expect(try self.seen().hold == nil && self.command(.hold)?.lamportTime == 99)
        #expect(try self.obey(OperatorCommand(kind: .hold, number: 3, lamportTime: 101, age: 0, hold: .open)))
        // An older reset that comes later leaves the hold.
        #expect(try self.seen().hold?.state == .open)
    }

    @Test func aResetLeavesANewerHold() throws {
        #expect(try self.obey(OperatorCommand(kind: .hold, number: 3, lamportTime: 101, age: 0, hold: .open)))
        let breaker = try self.fixture.breaker(trip: .consecutiveFailures(2))
        _ = try #require(
            try self.store.obey(
                .open(for: 60_000_000, trips: 1), on: "a", ifEpoch: self.seen().epoch, by: nil, reason: nil))
        #expect(try self.obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 100, age: 0)))
        #expect(try self.seen().hold?.state == .open && self.seen().state == .closed)
        #expect(!breaker.isCallPermitted)
        #expect(try self.obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 102, age: 0)))
        #expect(try self.seen().hold == nil)
    }

    @Test func aHoldWhoseTimeIsOverEndsAnOlderOne() throws {
        #expect(try self.obey(OperatorCommand(kind: .hold, number: 1, lamportTime: 100, age: 0, hold: .open)))
        #expect(
            try self.obey(OperatorCommand(kind: .hold, number: 2, lamportTime: 200, age: 9, hold: .closed, holdFor: 9)))
        #expect(try self.seen().hold == nil)
        #expect(try self.kinds() == [.held, .released])
    }

    @Test func aResetForgetsWhatIsOlder() throws {
        let breaker = try self.fixture.breaker(trip: .consecutiveFailures(2))
        // Nothing counts yet.
        #expect(try self.obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 1, age: 0)))
        breaker.recordFailure()
        self.advance(10)
        #expect(try self.obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 2, age: 20_000_000)))
        #expect(breaker.failureCount == 1)
        #expect(try self.kinds() == [])
        #expect(try self.obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 3, age: 5_000_000)))
        #expect(breaker.failureCount == 0)
        #expect(try self.kinds() == [.reset])
    }

    @Test func underARateRuleAResetBeginsTheWindowAgain() throws {
        let rate = TripRule.failureRate(0.5, minimumCalls: 100, within: .seconds(10))
        let breaker = try self.store.breaker(.init(name: "b", trip: rate))
        breaker.recordFailure()
        func seen() throws -> LinkedCircuit { try #require(try self.store.linkedCircuits(matching: "b").first) }
        func obey(_ command: OperatorCommand) throws {
            let epoch = try seen().epoch
            _ = try #require(
                try self.store.obey(
                    .obey(command, keepsTrip: false, serverTime: 0), on: "b", ifEpoch: epoch, by: nil, reason: nil))
        }
        try obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 1, age: 11_000_000))
        #expect(try seen().failed?.bad == 1)
        try obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 2, age: 0))
        #expect(try seen().failed?.bad == 0)
    }

    @Test func aTripThatIsNewerThanTheResetStays() throws {
        #expect(try self.obey(OperatorCommand(kind: .hold, number: 1, lamportTime: 100, age: 0, hold: .closed)))
        _ = try #require(
            try self.store.obey(
                .open(for: 60_000_000, trips: 1), on: "a", ifEpoch: self.seen().epoch, by: nil, reason: nil))
        #expect(
            try self.obey(OperatorCommand(kind: .reset, number: 1, lamportTime: 200, age: 9_000_000), keepsTrip: true))
        #expect(try self.seen().hold == nil)
        #expect(try self.seen().state == .open(left: 60_000_000))
    }
}

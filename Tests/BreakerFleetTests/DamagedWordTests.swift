import BreakerStore
import Testing

@testable import BreakerFleet

/// What a link decides about words with damaged stamps.
@Suite struct DamagedWordTests {
    private static let time: Int64 = 1 << 50
    private static let damaged = OperatorCommand(
        kind: .hold, number: 1, lamportTime: Self.time + OperatorCommand.maxLead + 1, hold: .open, by: "mallory")
    private static let sound = OperatorCommand(
        kind: .hold, number: 2, lamportTime: Self.time - 5, age: 5, hold: .closed, by: "ann")

    private static func file(_ commands: [OperatorCommand]) -> LinkedCircuit {
        LinkedCircuit(
            name: "a", epoch: 7, state: .closed, recovery: 30_000_000, longestRecovery: 600_000_000, commands: commands)
    }

    private static func register(_ commands: [OperatorCommand] = [], damaged: [OperatorCommand.Kind] = []) -> Register {
        Register(
            name: "a", generation: 9, state: .closed, age: 4_000_000, commands: commands, damagedCommands: damaged)
    }

    private static func next(_ link: inout CircuitLink, _ file: LinkedCircuit, at now: Int64 = 0) -> CircuitLink.Step? {
        link.next(file, nil, at: now, serverTime: Self.time, draw: 0)
    }

    @Test func isNotSent() {
        var link = CircuitLink(.init(host: "me"))
        link.learn(Self.register(), at: 0)
        let file = Self.file([Self.damaged])
        #expect(Self.next(&link, file) == nil)
        #expect(CircuitLink.unsendable(file, serverTime: Self.time) == [Self.damaged])
        // A microsecond later the clock has come near enough.
        #expect(CircuitLink.unsendable(file, serverTime: Self.time + 1).isEmpty)
        #expect(CircuitLink.unsendable(Self.file([Self.sound]), serverTime: Self.time).isEmpty)
    }

    @Test func isNotObeyed() {
        var link = CircuitLink(.init(host: "me"))
        link.learn(Self.register([Self.damaged]), at: 0)
        #expect(Self.next(&link, Self.file([])) == nil)
    }

    @Test func givesWayInTheFileToEachOther() {
        var link = CircuitLink(.init(host: "me"))
        link.learn(Self.register([Self.sound]), at: 0)
        #expect(
            Self.next(&link, Self.file([Self.damaged]))
                == .order(
                    .obey(Self.sound, keepsTrip: false, serverTime: Self.time), by: "fleet: ann", reason: nil))
    }

    /// A link of 0.5.0 writes its damaged word again as often as this link replaces it.
    @Test func isReplacedAtTheServerOnceASecond() {
        var link = CircuitLink(.init(host: "me"))
        let file = Self.file([Self.sound])
        let damaged = Self.register(damaged: [.hold])
        link.learn(damaged, at: 0)
        for round in 0..<3 as Range<Int64> {
            let now = round * 1_000_000
            #expect(Self.next(&link, file, at: now) == .request(.send(Self.sound)))
            link.done(.send(Self.sound), .accepted(generation: 9), file, at: now)
            #expect(Self.next(&link, file, at: now) == nil)
            link.learn(damaged, at: now)
            #expect(Self.next(&link, file, at: now + 999_999) == nil)
            #expect(link.wakesAt == now + 1_000_000)
        }
        // A word that is only older is replaced at once.
        var older = Self.sound
        older.lamportTime = Self.time - 6
        link.learn(Self.register([older]), at: 2_000_001)
        #expect(Self.next(&link, file, at: 2_000_001) == .request(.send(Self.sound)))
    }
}

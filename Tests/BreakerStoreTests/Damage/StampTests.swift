import Foundation
import Testing

@testable import BreakerStore

/// One bad stamp in a circuit's rows is that circuit's own affair.
@Suite(.timeLimit(.minutes(10))) struct StampTests {
    /// Where stamps of a circuit stand, and how a text sets one.
    static let places = [
        "UPDATE circuit SET since = since | % WHERE name = 'bad'",
        "UPDATE circuit SET open_until = open_until | % WHERE name = 'bad'",
        "UPDATE circuit SET hold_since = hold_since | % WHERE name = 'bad'",
        "UPDATE circuit SET forgotten_until = since | % WHERE name = 'bad'",
        "UPDATE circuit SET registered = registered | % WHERE name = 'bad'",
        "UPDATE failure SET at = at | % WHERE circuit = (SELECT id FROM circuit WHERE name = 'bad')",
        "UPDATE probe SET since = since | %, lease_ends = lease_ends | %", "UPDATE worker SET since = since | %",
        "UPDATE event SET at = at | %",
    ]

    /// A probe is under way.
    private static let probing = """
        UPDATE circuit SET state = 'half-open', open_until = NULL WHERE name = 'bad';
        INSERT INTO probe SELECT circuit.id, 1, worker.id, NULL, NULL, circuit.since, circuit.since + 30000000 FROM circuit, worker
        WHERE circuit.name = 'bad'
        """

    /// Bits above an hour: the lowest one, those about the year 2300, which bounds the clock, and the highest ones.
    @Test(arguments: Self.places)
    func movesNoOther(place: String) throws {
        try Files.withDirectory { directory in
            for bit in [32, 40, 48, 52, 53, 54, 60, 61, 62] {
                try self.check(place, "(1 << \(bit))", "\(directory)/\(bit).db")
            }
            try self.check(place, "9223372036854775807", "\(directory)/max.db")
        }
    }

    private func check(_ place: String, _ value: String, _ path: String) throws {
        let clock = ManualHostClock()
        var configuration = Stores.configuration()
        configuration.clock = clock
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        let other = try store.breaker(Self.config("other", recovery: 3_600))
        let held = try store.breaker(Self.config("held", recovery: 30))
        let bad = try store.breaker(Self.config("bad", recovery: 30))
        for breaker in [other, bad] { synchronously { breaker.recordFailure() } }
        if place.contains("failure") || place.contains("forgotten") { try store.reset("bad") }
        if place.contains("failure") { Foreign.run(path, "INSERT INTO failure SELECT id, since, 1, 1 FROM circuit") }
        if place.contains("probe") { Foreign.run(path, Self.probing) }
        if place.contains("hold") { try store.hold("bad", .open, for: .seconds(60)) }
        try store.hold("held", .open, for: .seconds(3_600))
        let sql = place.replacing("%", with: value)
        Foreign.run(path, "PRAGMA ignore_check_constraints = ON; \(sql)")
        for _ in 0..<2 { synchronously { bad.recordFailure() } }
        _ = try? synchronously { try bad.run {} }
        clock.advance(by: .seconds(1_800))
        for breaker in [other, held] {
            #expect(throws: CircuitOpenError.self, "\(sql)") { try synchronously { try breaker.run {} } }
        }
        clock.advance(by: .seconds(1_801))
        #expect(throws: Never.self, "\(sql)") { try synchronously { try held.run {} } }
        #expect(throws: Never.self, "\(sql)") { try synchronously { try other.run {} } }
        // Nor is the circuit itself dead: it opens, and is due after one recovery.
        try store.reset("bad")
        synchronously { bad.recordFailure() }
        #expect(bad.circuitIsOpen, "\(sql)")
        clock.advance(by: .seconds(31))
        #expect(throws: Never.self, "\(sql)") { try synchronously { try bad.run {} } }
        #expect(bad.isCallPermitted, "\(sql)")
    }

    /// An open circuit is due after its longest recovery, or the longest outage, whatever stands in its row.
    @Test(arguments: [40, 45, 50, 55, 60, 61, 62])
    func opensAtMostForItsLongestRecovery(bit: Int) throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            let clock = ManualHostClock()
            var configuration = Stores.configuration()
            configuration.clock = clock
            let store = try CircuitStore(path: path, configuration: configuration)
            defer { store.close() }
            let breaker = try store.breaker(Self.config("a", recovery: 30))
            synchronously { breaker.recordFailure() }
            let value = Int64(1) << bit
            Foreign.run(path, "UPDATE circuit SET since = since | \(value), open_until = open_until | \(value)")
            #expect(throws: CircuitOpenError.self) { try synchronously { try breaker.run {} } }
            // The cap of declared outages: a day, unless a rule says otherwise.
            clock.advance(by: .seconds(86_401))
            #expect(throws: Never.self) { try synchronously { try breaker.run {} } }
        }
    }

    /// A success that can't have been yet hides no failure; the time goes on between a call's end and its commit.
    @Test(arguments: ["since + (1 << 32)", "since + (1 << 45)", "since + (1 << 61)", "9223372036854775807"])
    func failuresInARowCountAfterAnySuccess(value: String) throws {
        try Files.withDirectory { directory in
            let path = "\(directory)/a.db"
            let store = try CircuitStore(path: path, configuration: Stores.configuration())
            defer { store.close() }
            let breaker = try store.breaker(.init(name: "a", trip: .consecutiveFailures(3)))
            Foreign.run(path, "UPDATE circuit SET forgotten_until = \(value)")
            for _ in 0..<3 { synchronously { breaker.recordFailure() } }
            #expect(breaker.circuitIsOpen)
        }
    }

    private static func config(_ name: String, recovery: Int) -> CircuitBreaker.Config {
        .init(name: name, recoveryTimeout: .seconds(recovery), maxFailures: 1, rollingWindow: .seconds(60))
    }
}

extension CircuitBreaker {
    var circuitIsOpen: Bool { if case .open = self.state { true } else { false } }
}

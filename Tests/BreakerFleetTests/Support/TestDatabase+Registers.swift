#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import Foundation

@testable import BreakerFleet

extension TestDatabase {
    /// A host's registers on a connection of their own.
    func registers(
        host: String, fleet: String = "default", lease: Int64 = 5_000_000, as user: String = "postgres"
    )
        throws -> Registers
    {
        Registers(try self.connect(as: user), fleet: fleet, host: host, lease: lease)
    }

    /// Makes the schema as a released version made it.
    func make(_ version: String) throws {
        let owner = try self.connect()
        let fixture = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/fleet-\(version).sql")
        let lines = try String(contentsOf: fixture, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("--") }
        for statement in (lines.joined(separator: "\n") + "\n").split(separator: ";\n") {
            try owner.run(String(statement))
        }
    }
}

extension ServerConnection {
    /// Ends all other connections to this one's database.
    func endOthers() throws {
        try self.run(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
    }
}

extension Registers {
    /// A register that is there, as everybody sees it.
    func one(_ name: String) throws -> Register? { try self.read([name]).registers.first }

    /// Makes a closed register; returns its generation.
    func make(_ name: String) throws -> Int64 {
        try self.insertMissing([name])
        return try self.one(name)?.generation ?? 0
    }

    /// Makes an open register; returns its generation.
    func makeOpen(_ name: String, for duration: Int64 = 60_000_000) throws -> Int64 {
        let outcome = try self.perform(
            .trip(generation: self.make(name), openFor: duration, reason: "5 failures"), on: name)
        guard case .accepted(let generation) = outcome else { return 0 }
        return generation
    }

    /// A word that somebody has said so long ago, with its place among those of all hosts.
    func command(
        _ saying: Saying, age: Int64 = 0, number: Int64 = .random(in: 1..<Int64.max), by who: String? = "ann",
        reason: String? = "drill"
    ) throws -> OperatorCommand {
        var command = OperatorCommand(
            kind: .hold, number: number, lamportTime: try max(0, self.read([]).time.subtractingSaturating(age)),
            age: age,
            by: who, reason: reason)
        switch saying {
        case .hold(let state, let time): (command.hold, command.holdFor) = (state, time)
        case .release: break
        case .reset: command.kind = .reset
        case .probe: command.kind = .probe
        }
        return command
    }

    /// Tells what somebody has said so long ago.
    @discardableResult
    func say(_ saying: Saying, age: Int64 = 0, on name: String) throws -> Outcome {
        try self.perform(.send(self.command(saying, age: age)), on: name)
    }

    /// Adds failures of a host whose file has its name for a number.
    func push(new: [Failure], gone: [Gone] = []) throws { try self.push(new: new, gone: gone, of: self.host) }

    func push(sums: [Sums]) throws { try self.push(sums: sums, of: self.host) }

    /// Changes a register by hand.
    func set(_ values: String, of name: String) throws {
        try self.connection.run(
            "UPDATE fleet.circuit SET \(values), changed = pg_current_xact_id() WHERE fleet = $1 AND name = $2",
            [self.fleet, name])
    }
}

/// Reads until nothing has changed since, and returns that reading.
///
/// A transaction of any other test on the same server may make a reading tell the same again.
@discardableResult
func untilNothingIsNew(
    _ first: Registers.Reading, _ read: (String) throws -> Registers.Reading
) async throws
    -> Registers.Reading
{
    var reading = first
    repeat {
        try await Task.sleep(for: .milliseconds(5))
        reading = try read(reading.seen)
    } while !reading.registers.isEmpty
    return reading
}

/// What somebody says of a circuit.
enum Saying: Sendable, Hashable {
    case hold(HoldState, for: Int64?)
    case release
    case reset
    case probe
}

extension Registers.Link {
    /// A link of a file that is at the only place of that number.
    init(session: Int64, file: String, program: String) {
        self.init(session: session, file: file, place: "place of \(file)", program: program)
    }
}

extension Outcome {
    /// The generation of what was accepted.
    var generation: Int64? {
        switch self {
        case .accepted(let generation): generation
        case .refused: nil
        }
    }
}
#endif

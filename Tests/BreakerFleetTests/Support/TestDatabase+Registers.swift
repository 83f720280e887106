#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore

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

    /// Steps the server's clock, for this database.
    func stepClock(byHours hours: Int) throws {
        try self.connect().run(
            """
            CREATE OR REPLACE FUNCTION fleet.now() RETURNS bigint LANGUAGE sql VOLATILE SET search_path = pg_catalog
            AS 'SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint + \(hours) * 3600000000'
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

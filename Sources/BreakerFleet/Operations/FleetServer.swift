#if PostgreSQL
import BreakerStore

/// An operator's connection to the server, for single queries and changes.
///
/// It blocks the calling thread, as `ServerConnection` does. It changes no setting of its session, which a pooler would
/// pass on to other clients.
package struct FleetServer {
    /// The timeout, longer than a link's, because a person waits.
    private static let patience = Duration.seconds(5)

    private let connection: ServerConnection

    /// Connects to the server.
    ///
    /// - Parameter connection: libpq's connection string or URI.
    package init(connection: String) throws(FleetError) {
        self.connection = try ServerConnection(
            ConnectionSettings(parsing: connection), manner: .init(timeout: Self.patience, hasOwnSession: false))
    }

    /// Whether a connection string has a password, which a process list or a unit file would show.
    ///
    /// - Throws: `invalidConfiguration` for a malformed string.
    package static func holdsPassword(_ connection: String) throws(FleetError) -> Bool {
        try ConnectionSettings(parsing: connection).holdsSecret
    }

    // MARK: - The schema

    /// The version of the schema that this release creates and needs.
    package static var schemaVersion: String { FleetSchema.name }

    /// The script for psql that creates the schema.
    package static var script: String { FleetSchema.script }

    /// The version of the schema in the database, such as `1.0`; nil if there is none.
    package func schemaVersion() throws(FleetError) -> String? {
        try self.storedVersion().map { FleetSchema.name(of: $0) }
    }

    private func storedVersion() throws(FleetError) -> Int64? {
        do throws(FleetError) {
            return try self.connection.run("SELECT version FROM fleet.meta").first?.number(0)
        } catch {
            guard error.code == .wrongSchema else { throw error }
            return nil
        }
    }

    /// Creates a missing schema, and migrates an older one; does nothing to a schema of this version or a later.
    package func makeSchema() throws(FleetError) {
        let version = try self.storedVersion()
        if version.map({ $0 < FleetSchema.version }) ?? true { try FleetSchema.install(on: self.connection) }
        try self.requireSchema()
    }

    /// Throws `wrongSchema` if links of this release can't work with the schema.
    package func requireSchema() throws(FleetError) { _ = try self.registers(of: "") }

    /// The rights that this user lacks to run a link, such as `INSERT on fleet.failure`.
    package func missingRights() throws(FleetError) -> [String] {
        // Without this right the server refuses to check the others.
        guard try self.connection.run("SELECT has_schema_privilege('fleet', 'USAGE')").first?.flag(0) == true else {
            return ["USAGE on schema fleet"]
        }
        let rows = try self.connection.run(
            """
            SELECT r.what || ' on ' || r.place FROM (
                SELECT 'EXECUTE' AS what, 'fleet.now()' AS place, has_function_privilege('fleet.now()', 'EXECUTE') AS has
                UNION ALL SELECT 'SELECT', 'fleet.meta', has_table_privilege('fleet.meta', 'SELECT')
                UNION ALL SELECT what, place, has_table_privilege(place, what)
                FROM unnest(ARRAY['fleet.circuit', 'fleet.failure', 'fleet.rate', 'fleet.link']) AS place,
                unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS what
            ) AS r WHERE NOT r.has ORDER BY 1
            """)
        return rows.compactMap { $0.text(0).map { ServerText.shown($0) } }
    }

    /// Whether this user may change the schema, which no link needs.
    package func mayChangeSchema() throws(FleetError) -> Bool {
        try self.connection.run("SELECT has_schema_privilege('fleet', 'CREATE')").first?.flag(0) ?? false
    }

    // MARK: - Status

    /// The hosts of a fleet, its registers, the circuits that single hosts have opened, and the rules in which hosts
    /// differ.
    package func status(of fleet: String) throws(FleetError) -> FleetStatus {
        let registers = try self.registers(of: fleet)
        let start = ContinuousClock.now
        let hosts = try registers.hosts()
        return FleetStatus(
            fleet: fleet, lag: start.duration(to: .now).saturatingMicroseconds, hosts: hosts,
            circuits: try registers.all(), ownTrips: try registers.ownTrips(),
            differing: try registers.differingRules())
    }

    /// The newest changes of a circuit, oldest first.
    ///
    /// - Throws: `wrongSchema` if the database's schema is older than the histories.
    package func history(of circuit: FleetCircuit, of fleet: String) throws(FleetError) -> [FleetEvent] {
        let registers = try self.registers(of: fleet)
        guard registers.keepsHostReports else {
            throw FleetError(
                code: .wrongSchema,
                message:
                    "the database's schema 'fleet' has the version \(FleetSchema.name(of: registers.schema)), which "
                    + "has no histories; have the database's owner run 'breaker-fleet schema apply'")
        }
        return try registers.history(of: circuit.name)
    }

    /// Deletes a host that is not joined from the status; false if there is no such host.
    package func forget(_ host: FleetStatus.Host, of fleet: String) throws(FleetError) -> Bool {
        try self.registers(of: fleet).forget(host.storedName)
    }

    func registers(of fleet: String) throws(FleetError) -> Registers {
        var registers = Registers(self.connection, fleet: fleet, host: "")
        registers.schema = try registers.checkSchema()
        return registers
    }
}
#endif

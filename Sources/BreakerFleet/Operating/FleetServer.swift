#if PostgreSQL
import BreakerStore

/// An operator's connection to the server, for single questions and changes.
///
/// It blocks the thread, as `ServerConnection` does. Behind a pooler it changes no setting that other clients would
/// get.
package struct FleetServer {
    /// Longer than a link's timeout, because a person waits.
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

    /// The version of the schema that this release makes and needs.
    package static var schemaVersion: String { FleetSchema.name }

    /// The script for psql that makes the schema.
    package static var script: String { FleetSchema.script }

    /// The version of the schema in the database, such as `1.0`; nil if there is none.
    package func schemaVersion() throws(FleetError) -> String? {
        do throws(FleetError) {
            let version = try self.connection.run("SELECT version FROM fleet.meta").first?.number(0)
            return version.map { FleetSchema.name(of: $0) }
        } catch {
            guard error.code == .wrongSchema else { throw error }
            return nil
        }
    }

    /// Makes the schema where there is none, and moves an older one; leaves one of this major as it is.
    package func makeSchema() throws(FleetError) {
        let isOfUse = try self.schemaVersion().map { version in
            Int64(version.prefix { $0 != "." }).map { $0 >= FleetSchema.major } ?? true
        }
        if isOfUse != true { try FleetSchema.install(on: self.connection) }
        try self.requireSchema()
    }

    /// Throws `wrongSchema` if links of this release can't work with the schema.
    package func requireSchema() throws(FleetError) { try self.registers(of: "").checkSchema() }

    /// The rights that this user lacks to run a link, such as `INSERT on fleet.failure`.
    package func missingRights() throws(FleetError) -> [String] {
        // Without this right, no other can be asked for.
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
        return rows.compactMap { $0.text(0).map { ServerText.told($0) } }
    }

    /// Whether this user may change the schema, which no link needs.
    package func mayChangeSchema() throws(FleetError) -> Bool {
        try self.connection.run("SELECT has_schema_privilege('fleet', 'CREATE')").first?.flag(0) ?? false
    }

    // MARK: - What the fleet knows

    /// Hosts, registers, and the rules by which hosts differ.
    package func status(of fleet: String) throws(FleetError) -> FleetStatus {
        try self.requireSchema()
        let registers = self.registers(of: fleet)
        let sent = ContinuousClock.now
        let hosts = try registers.hosts()
        return FleetStatus(
            fleet: fleet, lag: sent.duration(to: .now).saturatingMicroseconds, hosts: hosts,
            circuits: try registers.all(), differing: try registers.differingRules())
    }

    private func registers(of fleet: String) -> Registers { Registers(self.connection, fleet: fleet, host: "") }
}
#endif

#if PostgreSQL
import BreakerTestSupport

package import BreakerFleet

/// A database of the shared server that a test has for itself, with the schema `fleet`.
package struct TestDatabase: Sendable {
    package let server: PostgresServer
    package let name: String

    package init(withSchema: Bool = true) async throws {
        try self.init(on: await PostgresServer.shared(), withSchema: withSchema)
    }

    package init(on server: PostgresServer, withSchema: Bool = true) throws {
        self.server = server
        self.name = try self.server.makeDatabase()
        if withSchema { try FleetSchema.install(on: self.connect()) }
    }

    /// The connection string, for a link.
    package var connection: String { self.server.connection(database: self.name) }

    package func connect(
        as user: String = "postgres", manner: ServerConnection.Manner = .patient
    ) throws -> ServerConnection {
        try ServerConnection(
            ConnectionSettings(parsing: self.server.connection(database: self.name, user: user)), manner: manner)
    }

    /// Sets the server's clock, for this database, so far ahead of the true one.
    package func setClock(ahead seconds: Int) throws {
        try self.connect().run(
            """
            CREATE OR REPLACE FUNCTION fleet.now() RETURNS bigint LANGUAGE sql VOLATILE SET search_path = pg_catalog
            AS 'SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint + \(seconds)::bigint * 1000000'
            """)
    }

    /// Removes the database, whoever is connected to it.
    package func drop() throws {
        let owner = try ServerConnection(ConnectionSettings(parsing: self.server.connection()), manner: .patient)
        try owner.run("DROP DATABASE \(self.name) WITH (FORCE)")
    }

    /// The number that a statement returns.
    package func number(_ sql: String) throws -> Int64 { try self.connect().run(sql).first?.number(0) ?? -1 }
}

extension ServerConnection.Manner {
    /// For tests that are not about time, on a busy machine.
    package static let patient = Self(timeout: .hangLimit)
}
#endif

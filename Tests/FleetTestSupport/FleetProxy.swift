#if PostgreSQL
import BreakerTestSupport

/// A network between a link and its server that a test can break: Tests/Python/fleet_proxy.py.
package final class FleetProxy: Sendable {
    private let python: WorkerProcess
    private let port: Int

    package init(to server: PostgresServer) async throws {
        // Tests/FleetTestSupport/FleetProxy.swift
        let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        self.python = try WorkerProcess(
            program: "/usr/bin/env", arguments: ["python3", "/\(tests)/Python/fleet_proxy.py", String(server.port)])
        self.port = try await self.python.ask("port").number("port") ?? 0
    }

    deinit { self.python.clear() }

    /// A connection string that leads to the database through this proxy.
    package func connection(to database: TestDatabase) -> String {
        "host=127.0.0.1 port=\(self.port) dbname=\(database.name) user=postgres"
    }

    /// Bytes are still acknowledged, and go nowhere.
    package func stall() async throws { try await self.python.ask("stall") }

    /// All connections end, and each new one at once.
    package func cut() async throws { try await self.python.ask("cut") }

    /// Each answer of the server comes so much later.
    package func delay(milliseconds: Int) async throws { try await self.python.ask("delay \(milliseconds)") }

    /// All connections end, and new ones go to another server.
    package func lead(to server: PostgresServer) async throws {
        try await self.cut()
        try await self.python.ask("lead \(server.port)")
        try await self.go()
    }

    package func go() async throws { try await self.python.ask("go") }
}
#endif

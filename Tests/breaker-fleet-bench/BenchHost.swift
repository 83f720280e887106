#if PostgreSQL
import BreakerFleet
import BreakerStore

/// A host: its file, and a link on it that works from now on.
struct BenchHost: Sendable {
    struct Down: Error {}

    static let circuit = "api"

    let name: String
    let store: CircuitStore
    let link: FleetLink

    init(_ number: Int, in folder: String, _ connection: String, listens: Bool = true) throws {
        self.name = "h\(number)"
        self.store = try CircuitStore(path: Self.path(number, in: folder))
        var configuration = FleetLink.Configuration()
        configuration.host = self.name
        configuration.listens = listens
        self.link = try FleetLink(store: self.store, connection: connection, configuration: configuration)
        Task { [link] in try await link.run() }
    }

    /// Makes a host's file, with circuits that other processes might use.
    static func prepare(_ number: Int, in folder: String, circuits: Int) throws {
        let store = try CircuitStore(path: self.path(number, in: folder))
        defer { store.close() }
        for number in 0..<circuits {
            _ = try store.breaker(.init(name: "circuit \(number)", trip: .failures(5, within: .seconds(60))))
        }
    }

    private static func path(_ number: Int, in folder: String) -> String { "\(folder)/h\(number).db" }

    var isJoined: Bool { self.link.health == .joined }

    func breaker(failures: Int, recovery: Duration, successes: Int = 1) throws -> CircuitBreaker {
        try self.store.breaker(
            .init(
                name: Self.circuit, trip: .failures(failures, within: .seconds(60)),
                recovery: RecoveryRule(timeout: recovery), probes: ProbeRule(successesToClose: successes)))
    }

    func events(_ kind: CircuitEvent.Kind) throws -> [CircuitEvent] {
        try self.store.history(of: Self.circuit, limit: 1_000).filter { $0.kind == kind }
    }
}

extension [BenchHost] {
    /// How many statements their links have sent.
    var statements: Int { self.map(\.link.statements).reduce(0, +) }

    func waitUntilJoined() async throws {
        try await Waiting.until("all are joined") { self.allSatisfy(\.isJoined) }
    }
}

/// Waits with a deadline.
enum Waiting {
    static func until(_ what: String, isTrue: () throws -> Bool) async throws {
        let start = ContinuousClock.now
        while try !isTrue() {
            guard ContinuousClock.now - start < .seconds(100) else { throw BenchError.tookTooLong(what) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
#endif

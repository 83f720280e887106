#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Foundation

@testable import BreakerFleet

/// A host of a fleet: a file of its own, a clock of its own, and a link on it, in this process.
final class FleetHost: Sendable {
    struct Down: Error {}

    let name: String
    let store: CircuitStore
    let breaker: CircuitBreaker
    let link: FleetLink
    let healths = Locked<[FleetHealth]>([])
    let directory: String
    private let ownsDirectory: Bool
    private let task: Task<Void, any Error>

    /// - Parameter directory: that of a host whose file this link shares; nil for one of its own.
    init(
        _ number: Int, _ connection: String, config: CircuitBreaker.Config = FleetHost.config(),
        in directory: String? = nil, _ change: (inout FleetLink.Configuration) -> Void = { _ in }
    ) throws {
        self.name = "h\(number)"
        self.directory = try directory ?? Directory.make("breakerstore-fleet")
        self.ownsDirectory = directory == nil
        var configuration = CircuitStore.Configuration.patient
        configuration.clock = OtherHostClock(number: number)
        self.store = try CircuitStore(path: self.directory + "/circuits.db", configuration: configuration)
        self.breaker = try self.store.breaker(config)
        var fleet = FleetLink.Configuration()
        fleet.host = self.name
        let healths = self.healths
        fleet.onHealth = { health in healths.withLock { $0.append(health) } }
        change(&fleet)
        self.link = try FleetLink(store: self.store, connection: connection, configuration: fleet)
        self.task = Task { [link] in try await link.run() }
    }

    /// Opens after 5 failures within a minute, for 1 s.
    static func config(
        _ name: String = "api", failures: Int = 5, recovery: Duration = .seconds(1), successes: Int = 1
    ) -> CircuitBreaker.Config {
        CircuitBreaker.Config(
            name: name, trip: .failures(failures, within: .seconds(60)),
            recovery: RecoveryRule(timeout: recovery), probes: ProbeRule(successesToClose: successes))
    }

    /// Ends the link and the store, and removes the file.
    func end() async {
        self.link.close()
        _ = await self.task.result
        self.close()
    }

    private func close() {
        self.store.close()
        if self.ownsDirectory { Directory.remove(self.directory) }
    }

    // MARK: - Calls

    func fail(_ count: Int = 1) {
        for _ in 0..<count { self.call { throw Down() } }
    }

    /// Whether the call was let through.
    @discardableResult
    func call(_ body: () throws -> Void = {}) -> Bool {
        do {
            try self.breaker.run { () throws -> Void in try body() }
            return true
        } catch { return error is Down }
    }

    /// Whether the file refuses calls, or lets a probe through.
    var isOpen: Bool { self.breaker.state != .closed }
    var isJoined: Bool { self.link.health == .joined }
    var isCutOff: Bool { if case .cutOff = self.link.health { true } else { false } }
    var wasCutOff: Bool {
        self.healths.withLock { $0.contains { if case .cutOff = $0 { true } else { false } } }
    }
    var isHeld: Bool { (try? self.snapshot())??.hold != nil }

    func snapshot() throws -> CircuitSnapshot? {
        let store = self.store
        return try store.circuit(named: "api")
    }

    func events(_ kind: CircuitEvent.Kind) throws -> [CircuitEvent] {
        let store = self.store
        return try store.history(of: "api", limit: 1_000).filter { $0.kind == kind }
    }
}

/// Chooses the forms of the store's calls that block the thread.
func synchronously<Value>(_ body: () throws -> Value) rethrows -> Value { try body() }

/// Hosts of one test, on a database of its own.
enum Fleet {
    /// Makes so many hosts that are joined, and ends them.
    static func with(
        _ count: Int, config: CircuitBreaker.Config = FleetHost.config(),
        _ change: @escaping @Sendable (inout FleetLink.Configuration) -> Void = { _ in },
        _ body: ([FleetHost], TestDatabase) async throws -> Void
    ) async throws {
        let database = try await TestDatabase()
        let hosts = try (0..<count).map { try FleetHost($0, database.connection, config: config, change) }
        try await self.ending(hosts) {
            try await self.wait("all are joined") { hosts.allSatisfy { $0.link.health == .joined } }
            try await body(hosts, database)
        }
    }

    /// Ends hosts after the body, however that ends.
    static func ending(_ hosts: [FleetHost], _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            for host in hosts { await host.end() }
            throw error
        }
        for host in hosts { await host.end() }
    }

    /// Opens the circuits of all hosts together; none of them has opened its own.
    static func trip(_ hosts: [FleetHost]) async throws {
        hosts[0].fail(3)
        hosts[1].fail(2)
        try await self.wait("all are open") { hosts.allSatisfy(\.isOpen) }
    }

    /// Calls all hosts that are open until none is.
    static func close(_ hosts: [FleetHost], for patience: Duration = .hangLimit) async throws {
        try await self.wait("all are closed", for: patience) {
            for host in hosts where host.isOpen { host.call() }
            return hosts.allSatisfy { !$0.isOpen }
        }
    }

    struct TookTooLong: Error, CustomStringConvertible { let description: String }

    /// Waits until a condition holds; returns after how many seconds.
    @discardableResult
    static func wait(
        _ what: String, for patience: Duration = .hangLimit, until isTrue: () throws -> Bool
    ) async throws -> Double {
        let start = ContinuousClock.now
        while try !isTrue() {
            guard ContinuousClock.now - start < patience else { throw TookTooLong(description: "not in time: \(what)") }
            try await Task.sleep(for: .milliseconds(2))
        }
        return (ContinuousClock.now - start) / .seconds(1)
    }
}

extension CircuitStore.Configuration {
    /// A busy machine is no failure.
    static var patient: Self {
        var configuration = Self()
        configuration.busyTimeout = .hangLimit
        return configuration
    }
}
#endif

#if PostgreSQL
public import BreakerStore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Joins a store's circuits with those of other hosts through PostgreSQL.
///
/// One link works for each file, in any of its processes; other links stand by. No call through a circuit ever waits
/// for the server: each host has its own file, and relies on it alone while the server can't be reached. The database
/// needs the schema `fleet`, which docs/fleet.sql creates.
public final class FleetLink: Sendable {
    /// How a link works.
    public struct Configuration: Sendable {
        /// The fleet's name; hosts that share circuits have the same.
        public var fleet: String = "default"
        /// The host's name, unique for each file; the default is the system's host name and the file's path.
        public var host: String? = nil
        /// The circuits that are shared: a pattern with `*`, `?` and `[…]`.
        public var circuits: String = "*"
        /// How many hosts must have failures before the fleet opens a circuit; from 2 on, one bad host can't open it.
        public var minimumHosts: Int = 2
        /// How long after the fleet's open time a host whose link has died still refuses calls; then it probes on its
        /// own.
        public var guardTime: Duration = .seconds(10)
        /// How long a host keeps the right to probe after its link last renewed it.
        public var lease: Duration = .seconds(5)
        /// Whether the server notifies the link of other links' changes; must be false behind a transaction pooler.
        ///
        /// Without notifications the link reads changes with its heartbeat, each second.
        public var listens: Bool = true
        /// Called on the link's own thread with each change of health.
        public var onHealth: (@Sendable (FleetHealth) -> Void)? = nil
        /// Called on the link's own thread after each change that the link has made to a circuit.
        package var onNews: (@Sendable (FleetNews) -> Void)? = nil

        /// The defaults.
        public init() {}
    }

    private struct State {
        var health = FleetHealth.closed
        var isRunning = false
        var isStopped = false
        var isClosed = false
    }

    private let store: CircuitStore
    private let settings: ConnectionSettings
    private let configuration: Configuration
    private let host: String
    private let wakeUp: WakeUp
    private let state = Mutex(State())
    private let sentStatements = Atomic(0)

    /// Creates a link, which connects in ``run()``.
    ///
    /// - Parameters:
    ///   - store: the store whose circuits are joined.
    ///   - connection: libpq's connection string or URI. libpq's environment variables and files supply the rest,
    ///     which should include a password.
    ///   - configuration: how the link works.
    /// - Throws: `invalidConfiguration` for settings that can never work; `unavailable` if too many files are open.
    public init(
        store: CircuitStore, connection: String, configuration: Configuration = Configuration()
    ) throws(FleetError) {
        try configuration.validate()
        guard store.mayBeLinked else {
            throw FleetError(
                code: .invalidConfiguration,
                message: "the store was opened with access .readOnly, and a link must write to it")
        }
        self.store = store
        self.settings = try ConnectionSettings(parsing: connection)
        self.configuration = configuration
        self.host = configuration.host ?? Self.defaultHost(of: store)
        try Configuration.validate(self.host, as: "host")
        self.wakeUp = try WakeUp()
    }

    /// The system's host name and the file's path; the end of a long path, because paths differ there.
    private static func defaultHost(of store: CircuitStore) -> String {
        "\(ProcessInfo.processInfo.hostName.escaped.prefix(60)):\(store.path.escaped.suffix(180))"
    }

    /// The link's health now.
    public var health: FleetHealth { self.state.withLock { $0.health } }

    /// How many statements the link has sent, for tests and measurements.
    package var statements: Int { self.sentStatements.load(ordering: .relaxed) }

    /// Runs the link until the task is cancelled, or the link or its store is closed.
    ///
    /// The link works on a thread of its own. While the server can't be reached, the link tries again forever.
    ///
    /// - Throws: `unavailable` if the link runs already or was closed, or if the system has no thread left.
    public func run() async throws {
        let mayRun = self.state.withLock { state in
            defer { if !state.isClosed { state.isRunning = true } }
            return !state.isRunning && !state.isClosed
        }
        guard mayRun else {
            throw FleetError(code: .unavailable, message: "the link runs already, or was closed")
        }
        let isStarted = await withTaskCancellationHandler {
            await self.work()
        } onCancel: {
            self.stop()
        }
        self.state.withLock {
            $0.isRunning = false
            $0.isStopped = $0.isClosed
        }
        if !isStarted {
            throw FleetError(code: .unavailable, message: "the system could not start a thread for the link")
        }
    }

    /// Runs the loop on a thread of its own; false if the system has no thread left.
    private func work() async -> Bool {
        let thread = StoreThread()
        return await withCheckedContinuation { (ended: CheckedContinuation<Bool, Never>) in
            let isStarted = thread.start {
                LinkLoop(
                    self.store, self.settings, self.configuration, host: self.host, wakeUp: self.wakeUp,
                    isStopped: { self.state.withLock { $0.isStopped } }, publish: self.publish,
                    count: { self.sentStatements.add($0, ordering: .relaxed) }
                ).run()
                self.publish(.closed)
                ended.resume(returning: true)
            }
            if !isStarted { ended.resume(returning: false) }
        }
    }

    /// Ends ``run()`` for good.
    public func close() {
        self.state.withLock { $0.isClosed = true }
        self.stop()
    }

    private func stop() {
        self.state.withLock { $0.isStopped = true }
        self.wakeUp.wake()
    }

    private func publish(_ health: FleetHealth) {
        let isNew = self.state.withLock { state in
            defer { state.health = health }
            return state.health != health
        }
        if isNew { self.configuration.onHealth?(health) }
    }
}

extension FleetLink.Configuration {
    /// Throws `invalidConfiguration` for a value that no link can work with.
    package func validate() throws(FleetError) {
        try Self.validate(self.fleet, as: "fleet")
        if let host = self.host { try Self.validate(host, as: "host") }
        try Self.require((1...10_000).contains(self.minimumHosts), "minimumHosts must be from 1 to 10,000")
        try Self.require(
            (.seconds(1) ... .seconds(3_600)).contains(self.guardTime), "guardTime must be from 1 s to 1 h")
        try Self.require((.seconds(1) ... .seconds(600)).contains(self.lease), "lease must be from 1 s to 10 min")
        try Self.require(
            (1...1_000).contains(self.circuits.utf8.count), "circuits must be a pattern of 1 to 1,000 bytes")
    }

    fileprivate static func validate(_ name: String, as what: String) throws(FleetError) {
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        try self.require(
            (1...1_000).contains(name.utf8.count) && isPlain,
            "\(what) must be a text of 1 to 1,000 bytes without control characters")
    }

    private static func require(_ isAllowed: Bool, _ message: String) throws(FleetError) {
        if !isAllowed { throw FleetError(code: .invalidConfiguration, message: message) }
    }
}
#endif

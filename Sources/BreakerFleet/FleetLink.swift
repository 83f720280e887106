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
/// One link works for each file, in any of its processes; others stand by. No call through a circuit ever waits for the
/// server: each host keeps its file, and guards itself when the server is away. The database needs the schema `fleet`,
/// which docs/fleet.sql makes.
public final class FleetLink: Sendable {
    /// How a link works.
    public struct Configuration: Sendable {
        /// The hosts that share circuits have the same fleet.
        public var fleet: String = "default"
        /// Unique for each file; the default is the host's name and the file's path.
        public var host: String? = nil
        /// The circuits that are shared: a pattern with `*`, `?` and `[…]`.
        public var circuits: String = "*"
        /// So many hosts must have failures before the fleet opens a circuit on all: one bad host never opens the
        /// others.
        public var minimumHosts: Int = 2
        /// For how long beyond the fleet's end a host goes on refusing calls when its link is dead; then the host
        /// probes by itself.
        public var guardTime: Duration = .seconds(10)
        /// For how long the right to probe is one host's, if its link says nothing more.
        public var lease: Duration = .seconds(5)
        /// Whether the link asks the server to tell it what others do; false behind a pooler of transactions.
        ///
        /// Without that the link hears of it with its heartbeat, each second.
        public var listens: Bool = true
        /// Called on the link's own thread with each change of health.
        public var onHealth: (@Sendable (FleetHealth) -> Void)? = nil
        /// Called on the link's own thread with each thing that the link has done to a circuit.
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
    private let sent = Atomic(0)

    /// Creates a link, which connects in ``run()``.
    ///
    /// Throws only for what can't ever work: a value that is not allowed, a connection string that libpq can't read.
    /// - Parameters:
    ///   - store: the store whose circuits are joined.
    ///   - connection: libpq's connection string or URI. What it leaves out comes from libpq's environment and files,
    ///     as a password should.
    ///   - configuration: how the link works.
    public init(
        store: CircuitStore, connection: String, configuration: Configuration = Configuration()
    ) throws(FleetError) {
        try configuration.validate()
        guard store.mayBeLinked else {
            throw FleetError(
                code: .invalidConfiguration, message: "the store is opened to be read, and a link must write to it")
        }
        self.store = store
        self.settings = try ConnectionSettings(parsing: connection)
        self.configuration = configuration
        self.host = configuration.host ?? Self.defaultHost(of: store)
        try Configuration.validate(self.host, as: "host")
        self.wakeUp = try WakeUp()
    }

    /// The host's name and the file's path: of a long path its end, by which paths differ.
    private static func defaultHost(of store: CircuitStore) -> String {
        "\(ProcessInfo.processInfo.hostName.escaped.prefix(60)):\(store.path.escaped.suffix(180))"
    }

    /// Whether the link joins the hosts.
    public var health: FleetHealth { self.state.withLock { $0.health } }

    /// How many statements the link has sent, for tests and figures.
    package var statements: Int { self.sent.load(ordering: .relaxed) }

    /// Works until the task is cancelled or the link or its store is closed; then it returns.
    ///
    /// The work is done on a thread of the link's own. Without a way to the server the link tries again for ever.
    /// Throws `unavailable` if the link runs already, or was closed, or if the system has no thread left.
    public func run() async throws {
        let mayRun = self.state.withLock { state in
            defer { if !state.isClosed { state.isRunning = true } }
            return !state.isRunning && !state.isClosed
        }
        guard mayRun else {
            throw FleetError(code: .unavailable, message: "a link runs once at a time, and never after it was closed")
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
        if !isStarted { throw FleetError(code: .unavailable, message: "the system has no thread left for a link") }
    }

    /// Returns whether there was a thread to work on.
    private func work() async -> Bool {
        let thread = StoreThread()
        return await withCheckedContinuation { (ended: CheckedContinuation<Bool, Never>) in
            let isStarted = thread.start {
                LinkLoop(
                    self.store, self.settings, self.configuration, host: self.host, wakeUp: self.wakeUp,
                    isStopped: { self.state.withLock { $0.isStopped } }, tell: self.tell,
                    count: { self.sent.add($0, ordering: .relaxed) }
                ).run()
                self.tell(.closed)
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

    private func tell(_ health: FleetHealth) {
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
        try Self.require((1...10_000).contains(self.minimumHosts), "minimumHosts is from 1 to 10,000")
        try Self.require((.seconds(1) ... .seconds(3_600)).contains(self.guardTime), "guardTime is from 1 s to 1 h")
        try Self.require((.seconds(1) ... .seconds(600)).contains(self.lease), "lease is from 1 s to 10 min")
        try Self.require((1...1_000).contains(self.circuits.utf8.count), "circuits is a pattern of 1 to 1,000 bytes")
    }

    fileprivate static func validate(_ name: String, as what: String) throws(FleetError) {
        let isPlain = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        try self.require(
            (1...1_000).contains(name.utf8.count) && isPlain,
            "\(what) is a text of 1 to 1,000 bytes without control characters")
    }

    private static func require(_ isAllowed: Bool, _ message: String) throws(FleetError) {
        if !isAllowed { throw FleetError(code: .invalidConfiguration, message: message) }
    }
}
#endif

import Dispatch
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A file of circuits that all processes of this host share.
///
/// Each process opens a store on the same path, and registers its circuits by name. Processes that use one name share
/// one circuit:
///
/// ```swift
/// // Once, when the process starts:
/// let store = try CircuitStore(path: "/var/lib/shop/breakers.db")
/// let users = try store.breaker(.init(name: "users", trip: .failures(5, within: .seconds(60))))
///
/// // For each call, in every process:
/// let user = try await users.run { try await api.fetchUser() }
///
/// // Before the process exits:
/// store.close()
/// ```
///
/// Synchronous functions that change the file, and those that register a circuit, commit on the calling thread and may
/// block it for as long as `busyTimeout`; <doc:SurvivingCrashesAndClocks#How-long-a-call-may-wait> has a table of all
/// functions that wait.
///
/// Two stores of one process on one path share one core, and closing one does not disturb the other. Some of their
/// settings must agree: see ``init(path:configuration:)``.
public final class CircuitStore: Sendable {
    struct State {
        var isClosed = false
        var healthListeners: [HealthListener] = []
    }

    let backend: Backend
    let configuration: Configuration
    /// Sends events and health to the listeners.
    let source: any EventSource
    /// Decides whether cached decisions are valid; shut when this store is closed, whatever other stores do.
    let gate = Gate()
    let state = Mutex(State(), rank: .store)
    /// The queue on which the asynchronous forms read.
    let reads = DispatchQueue(label: "BreakerStore.reads")

    /// Opens the store at `path`; creates and migrates the file as `configuration` allows.
    ///
    /// Throws before anything is changed when the path or the configuration can't be used. Blocks the calling thread
    /// while the file is opened, and while other processes open it.
    ///
    /// A second store of this process on the same file shares the first store's thread, writer and clock. Its
    /// `durability`, `eventsKept` and `forgetIdleAfter` must be the first store's, and so must its `clock` unless that
    /// is the default, and its `migration` unless that is `.never`: otherwise `invalidConfiguration` is thrown. Each
    /// store has an `onEvent` and a `busyTimeout` of its own, and a store that is `.readOnly` shares nothing. The first
    /// store's other settings apply as long as any of the stores is open: `workerName`, `whenUnavailable`, `fileMode`,
    /// and whether a lost file is created again (`access`) or an older file in its place is migrated. Where one store
    /// gives up waiting for the file, all stores use the in-memory fallback until the file is back.
    /// - Parameters:
    ///   - path: the database file. Its directory must exist, on a local file system, unless the configuration lets
    ///     the store degrade: then the directory may come later.
    ///   - configuration: how this process uses the file.
    public convenience init(
        path: String,
        configuration: Configuration = Configuration()
    ) throws(BreakerStoreError) {
        self.init(try Backend(path: path, configuration: configuration), configuration)
    }

    init(_ backend: Backend, _ configuration: Configuration) {
        self.backend = backend
        self.configuration = configuration
        self.source = backend.core ?? FileFollower(backend.file, configuration.clock)
        backend.core?.add(self.gate)
        if let onEvent = configuration.onEvent { self.listen(handler: onEvent) }
        if let onHealth = configuration.onHealth {
            // A store that begins degraded reports its health at once.
            self.listen(HealthListener(onHealth), withCurrent: !self.source.health.isHealthy)
        }
    }

    deinit { self.leave() }

    /// The file's path with symbolic links resolved; a temporary store has a real file, too.
    public var path: String { self.backend.file.path }

    /// Registers a circuit and returns a handle for it.
    ///
    /// The same config again is O(1) and returns an equal handle: a service may register on each request. A circuit
    /// whose handles have all been gone for a minute is unregistered, until a handle is requested again. Handles keep
    /// the store alive.
    ///
    /// A config that differs from the stored config replaces it in every process; state and counts stay. A config that
    /// can't be stored within `busyTimeout` is stored as soon as possible, unless a newer config is registered
    /// first; until then the handle uses the in-memory fallback.
    ///
    /// Throws `invalidConfiguration`, `closed`, `forked` or `readOnly`. Commits on the calling thread, which waits at
    /// most for `busyTimeout`.
    /// - Parameters:
    ///   - config: what all processes share about the circuit.
    ///   - calls: how this handle makes its calls.
    public func breaker(
        _ config: CircuitBreaker.Config,
        calls: CallPolicy = CallPolicy()
    ) throws(BreakerStoreError) -> CircuitBreaker {
        let core = try self.usableCore()
        let policy = PolicyBox(calls)
        if let known = try self.handleIfRegistered(config, policy, core) { return known }
        let breaker = try self.register([config], policy, core)[0]
        self.readFirst(breaker, core)
        return breaker
    }

    /// A handle for a circuit that is registered already, with the stored config.
    ///
    /// This process uses the circuit from then on, as if it had registered the circuit.
    ///
    /// Throws `noSuchCircuit`, `invalidConfiguration`, `closed`, `forked` or `readOnly`, or an error if the file can't
    /// be read or written: without the file the rules are unknown. Commits on the calling thread unless this store has
    /// a handle for the circuit; waits at most for `busyTimeout`.
    /// - Parameters:
    ///   - name: the circuit's name.
    ///   - calls: how this handle makes its calls.
    public func breaker(
        named name: String,
        calls: CallPolicy = CallPolicy()
    ) throws(BreakerStoreError) -> CircuitBreaker {
        let core = try self.usableCore()
        guard let row = try core.row(of: name) else { throw .noSuchCircuit(name, self.path) }
        // Rules that this release can't use are nobody's own: this process guards by those that it has registered, or
        // by the default.
        let own =
            core.circuits[CircuitName(name)]?.registeredConfig ?? CircuitBreaker.Config(name: name, group: row.group)
        var config = CircuitBreaker.Config(name: name, row: row.resolved(with: own))
        // In use before the commit, so that the store's thread does not drop the circuit meanwhile.
        let (circuit, isNew) = core.circuits.use(orMakeWith: ConfigBox(config))
        // Made before the commit can throw: the end of the handle ends the use of the circuit.
        let breaker = self.handle(circuit, PolicyBox(calls), core)
        if isNew {
            guard let used = try core.setUsed(of: name, until: self.deadline) else {
                throw .noSuchCircuit(name, self.path)
            }
            if row.circuit.rules.areAsStored { config = used }
        }
        circuit.adoptStored(ConfigBox(config))
        if isNew { self.readFirst(breaker, core) }
        try calls.validate(for: config)
        return breaker
    }

    /// Looks at a circuit that this process uses from now on.
    ///
    /// The first read after a commit notes in the wal-index how far it reads. This look does so, so that no healthy
    /// call has to.
    func readFirst(_ breaker: CircuitBreaker, _ core: StoreCore) {
        _ = try? core.readDecision(breaker.readContext)
        core.apply { $0.handlesWereMade() }
    }

    /// Registers many circuits in one transaction, and returns their handles in the same order.
    ///
    /// Each circuit is registered as by ``breaker(_:calls:)``. Of two configs for one name the last config applies. The
    /// first call of each circuit looks at the circuit.
    ///
    /// Throws as ``breaker(_:calls:)`` does; if one config is not valid, no circuit is registered. Commits on the
    /// calling thread, which waits at most for `busyTimeout`. All other changes to the file wait for the transaction: a
    /// hundred thousand circuits take some seconds.
    /// - Parameters:
    ///   - configs: what all processes share about each circuit.
    ///   - calls: how the handles make their calls.
    public func breakers(
        _ configs: [CircuitBreaker.Config],
        calls: CallPolicy = CallPolicy()
    ) throws(BreakerStoreError) -> [CircuitBreaker] {
        let core = try self.usableCore()
        let policy = PolicyBox(calls)
        var known: [CircuitBreaker] = []
        for config in configs {
            guard let breaker = try self.handleIfRegistered(config, policy, core) else { break }
            known.append(breaker)
        }
        if known.count == configs.count { return known }
        let breakers = try self.register(configs, policy, core)
        core.apply { $0.handlesWereMade() }
        return breakers
    }

    /// The handle for a circuit that this process has registered with the same config; nil if a commit must register
    /// it.
    private func handleIfRegistered(
        _ config: CircuitBreaker.Config, _ policy: PolicyBox, _ core: StoreCore
    ) throws(BreakerStoreError) -> CircuitBreaker? {
        guard let circuit = core.circuits.use(config) else { return nil }
        let breaker = self.handle(circuit, policy, core)
        try policy.policy.validate(for: config)
        return breaker
    }

    private func register(
        _ configs: [CircuitBreaker.Config],
        _ policy: PolicyBox,
        _ core: StoreCore
    ) throws(BreakerStoreError) -> [CircuitBreaker] {
        for config in configs {
            try config.validate()
            try policy.policy.validate(for: config)
        }
        let kept = configs.map(ConfigBox.init)
        // In use before the commit, so that the store's thread drops none of them meanwhile.
        let breakers = kept.map { self.handle(core.circuits.use(registering: $0), policy, core) }
        do throws(BreakerStoreError) {
            try core.register(kept, of: breakers.map(\.circuit), until: self.deadline)
        } catch {
            // After any other error the in-memory fallback decides until the file is back.
            if error.code == .closed || error.code == .forked { throw error }
        }
        for config in configs { core.setRules(of: config) }
        return breakers
    }

    /// A handle, which takes over a use of the circuit.
    func handle(_ circuit: SharedCircuit, _ policy: PolicyBox, _ core: StoreCore) -> CircuitBreaker {
        CircuitBreaker(store: self, core: core, circuit: circuit, calls: policy)
    }

    /// Whether the file or the in-memory fallback decides; in a child of `fork` the fallback, with the error `forked`.
    public var health: StoreHealth {
        if self.gate.isForked {
            let since = Date(timeIntervalSince1970: Double(ForkRecord.forkedAt))
            return .degraded(since: since, error: .forked(self.backend.file.path))
        }
        return self.isClosed ? .closed : self.source.health
    }

    /// Commits all that waits, for at most `busyTimeout`, then closes the store.
    ///
    /// Calls in flight finish. Later calls use the in-memory fallback, which begins with what this process has last
    /// read: an open circuit refuses until its recovery time is over, and a hold without an end lasts as long as the
    /// process. Later calls are in no totals, `totals` is zero, and throwing store calls throw `closed`. Waits for an
    /// `onEvent` hook that still has events of before. Blocks the calling thread.
    public func close() {
        guard !self.gate.isForked, !self.isClosed else { return }
        guard let core = self.backend.core else {
            self.leave()
            return
        }
        let deadline = self.deadline
        core.waitForRateChecks()
        // Commits all that waits; then streams and handlers get the events.
        _ = try? core.commit(until: deadline) { _ in }
        core.feed.close(ObjectIdentifier(self), until: deadline)
        if self.leave() { core.waitForEnd(until: deadline) }
    }

    // MARK: - For the library

    var deadline: Deadline { Deadline(after: self.configuration.busyTimeout) }

    package var isClosed: Bool { self.state.withLock { $0.isClosed } }

    /// The core; throws if this store may not use it.
    func usableCore() throws(BreakerStoreError) -> StoreCore {
        try self.requireUsable()
        guard let core = self.backend.core else {
            throw BreakerStoreError(
                code: .readOnly,
                message: "the store was opened with access .readOnly",
                path: self.backend.file.path
            )
        }
        return core
    }

    func requireUsable() throws(BreakerStoreError) {
        // Checked first: in a child of `fork`, a lock that another thread held stays locked forever.
        if self.gate.isForked { throw .forked(self.backend.file.path) }
        if self.isClosed { throw .closed(self.backend.file.path) }
    }

    /// Leaves the core at the first call; returns whether this call was the first.
    @discardableResult
    private func leave() -> Bool {
        if self.gate.isForked { return false }
        let isFirst = self.state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return false }
        if let core = self.backend.core {
            core.remove(self.gate)
            CoreRegistry.leave(core)
        }
        for reader in self.source.feed.readers(of: ObjectIdentifier(self)) { reader.end() }
        for listener in self.state.withLock({ $0.healthListeners }) { self.end(listener) }
        self.backend.removeTemporaryDirectory()
        return true
    }
}

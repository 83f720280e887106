/// A handle for one circuit of a store: runs calls through the circuit.
///
/// ``CircuitStore/breaker(_:calls:)`` registers a circuit and returns its handle. While the circuit is closed, `run`
/// runs the operation and counts how it ended. While the circuit is open, `run` throws ``CircuitOpenError`` at once:
///
/// ```swift
/// let users = try store.breaker(.init(name: "users"))
/// do {
///     return try await users.run { try await api.fetchUser() }
/// } catch let refusal as CircuitOpenError {
///     // The circuit is open, so the operation did not run.
///     return refusal.retryAfter.map { "try again in \($0)" } ?? "try again later"
/// }
/// ```
///
/// A handle may be kept or made again for each call; all handles of one name share the circuit.
public final class CircuitBreaker: Sendable {
    /// Keeps the store open as long as a handle is in use.
    let store: CircuitStore
    let core: StoreCore
    let circuit: SharedCircuit
    private let calls: PolicyBox
    /// Whether the policy has no timeout, no retry and no metrics, as for most calls.
    let isPlain: Bool
    let measuresDurations: Bool
    private let hasSystemClock: Bool

    /// Takes over a use of the circuit that the caller has begun.
    init(store: CircuitStore, core: StoreCore, circuit: SharedCircuit, calls: PolicyBox) {
        self.store = store
        self.core = core
        self.circuit = circuit
        self.calls = calls
        let policy = calls.policy
        self.measuresDurations = policy.measuresDurations
        if policy.measuresDurations { circuit.counts.measureDurations() }
        self.hasSystemClock = core.clock.isSystem
        self.isPlain = policy.timeout == nil && policy.retry == nil && policy.onOutcome == nil
    }

    deinit { self.circuit.useEnded(at: self.core.clock.uptime) }

    var policy: CallPolicy { self.calls.policy }

    /// The uptime by the store's clock.
    ///
    /// Reads the system's clock directly: each object on the way over the store would be retained, twice for each
    /// measured call.
    var uptime: Uptime { self.hasSystemClock ? UptimeClock.ofSystem : self.core.clock.uptime }

    /// The circuit's name.
    public var name: String { self.circuit.name }

    /// The stored config, the newest registration of any process; while the file can't be read, the config that this
    /// process registered.
    ///
    /// Reads the file on the calling thread; waits for no writer.
    public var config: Config {
        self.row.map { Config(name: self.name, row: $0) } ?? self.circuit.registeredConfig
    }

    /// The state now; reading it never changes the circuit.
    ///
    /// Reads the file on the calling thread, and waits for no writer; gives the state in memory only while the file
    /// can't be read.
    public var state: CircuitState { self.currentCircuit.state(at: self.core.clock.now, self.core.clock.dates()) }

    /// How many failures count now; 0 under a failure-rate rule: see ``CircuitSnapshot/recent``.
    ///
    /// Reads the file on the calling thread, and waits for no writer; gives the count in memory only while the file
    /// can't be read.
    public var failureCount: Int {
        let now = self.core.clock.now
        if var stored = self.stored(self.core.circuit) {
            stored.row = stored.row.resolved(with: self.circuit.registeredConfig)
            return stored.failures(at: now).count
        }
        return self.inMemory(at: now) { circuit, _, _ in circuit.failureCount.count }
    }

    /// All calls of all processes that the circuit has had since it was created in the file.
    ///
    /// Reads the file on the calling thread; zeros while the file can't be read, and after `close()`. Calls of other
    /// processes that neither failed nor were slow appear up to a second later.
    public var totals: CallTotals {
        guard self.mayUseFile else { return CallTotals() }
        return (try? self.core.totals(of: self.circuit)) ?? CallTotals()
    }

    /// Whether a call would be let through now; reading it never changes the circuit.
    ///
    /// For code that only shows the answer, such as a button. It limits no probes: once the recovery time is over,
    /// every reader gets true until the slots are taken. Code that makes a call uses ``run(_:)-2rnh8`` or
    /// ``admit()-9bf4f``, which take the probe's slot.
    ///
    /// Reads the file on the calling thread unless the cached decision counts; waits for no writer.
    public var isCallPermitted: Bool {
        if self.circuit.cache.read(self.store.gate).isClosed { return true }
        switch self.currentCircuit.answer(at: self.core.clock.now, isAlive: self.core.isAlive) {
        case .uncounted, .observe: return true
        case .proceed, .claim: return !self.core.isDegraded || self.isAdmittedByFallback
        case .refuse: return false
        }
    }

    /// Whether memory would let a call through: while the file can be read but not written, both must.
    private var isAdmittedByFallback: Bool {
        let now = self.core.clock.now
        let answer = self.inMemory(at: now) { circuit, _, _ in circuit.answer(at: now, isAlive: { _ in true }) }
        if case .refuse = answer { return false }
        return true
    }

    /// The arguments of a look at the circuit.
    var readContext: ReadContext { ReadContext(circuit: self.circuit, gate: self.store.gate) }

    /// The value that `read` finds in the file; nil also if this store can't use the file.
    private var row: CircuitRow? { self.stored(self.core.row)?.resolved(with: self.circuit.registeredConfig) }

    private func stored<Value>(_ read: (String) throws(BreakerStoreError) -> Value?) -> Value? {
        guard self.mayUseFile else { return nil }
        do throws(BreakerStoreError) {
            return try read(self.name)
        } catch {
            self.core.readFailed(error)
            return nil
        }
    }

    /// The circuit in the file, or the circuit in memory that guards in its place.
    private var currentCircuit: Circuit {
        if var circuit = self.row?.circuit {
            circuit.clampFutureStamps(for: self.core.clock.now)
            return circuit
        }
        return self.inMemory(at: self.core.clock.now) { circuit, _, _ in circuit }
    }
}

extension CircuitBreaker: CustomStringConvertible {
    /// The circuit's name and the store's path; reads no file.
    public var description: String { "CircuitBreaker(\(self.name.quoted), \(self.store.path.escaped))" }
}

extension CircuitBreaker: Equatable {
    /// Handles of one circuit in one store are equal, whatever their policies.
    public static func == (left: CircuitBreaker, right: CircuitBreaker) -> Bool {
        left.store === right.store && left.circuit === right.circuit
    }
}

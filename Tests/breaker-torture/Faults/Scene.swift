import BreakerStore
import BreakerTestSupport
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A store of the parts `errors` and `disk` on which something is about to fail, and what must be true afterwards.
final class Scene: Sendable {
    struct Boom: Error {}

    private struct State {
        var store: CircuitStore
        /// When the failures of `counting` were seen, oldest first.
        var times: [Int64] = []
        var wasDegraded = false
    }

    private static let busyTimeout = Duration.milliseconds(100)
    /// A machine that is busy with other things is no violation.
    private static let patience = Duration.hangLimit

    private let directory: String
    private let what: String
    private let report: Report
    private let clock = ManualHostClock()
    private let state: Locked<State>
    let handles: Locked<[CircuitBreaker]>

    init(_ directory: String, _ what: String, _ report: Report) throws {
        self.directory = directory
        self.what = what
        self.report = report
        guard unsafe mkdir(directory, 0o700) == 0 else { throw SystemError("make \(directory)") }
        let store = try CircuitStore(path: directory + "/a.db", configuration: Self.configuration(self.clock))
        self.state = Locked(State(store: store))
        self.handles = Locked(try Self.register(in: store))
    }

    private static func configuration(_ clock: ManualHostClock) -> CircuitStore.Configuration {
        var configuration = CircuitStore.Configuration()
        configuration.clock = clock
        configuration.busyTimeout = self.busyTimeout
        configuration.firstRetry = .milliseconds(1)
        return configuration
    }

    private static func register(in store: CircuitStore) throws -> [CircuitBreaker] {
        let rules: [TripRule] = [
            .failures(1_000, within: .seconds(3_600)), .failures(3, within: .seconds(3_600)),
            .consecutiveFailures(100), .failures(3, within: .seconds(3_600)),
        ]
        return try zip(["counting", "tripping", "consecutive", "held"], rules).map { name, rule in
            try store.breaker(.init(name: name, trip: rule, recovery: RecoveryRule(timeout: .seconds(30))))
        }
    }

    func clear() {
        self.store.close()
        Directory.remove(self.directory)
    }

    var store: CircuitStore { self.state.withLock { $0.store } }
    var counting: CircuitBreaker { self.handles.withLock { $0[0] } }
    var tripping: CircuitBreaker { self.handles.withLock { $0[1] } }
    var consecutive: CircuitBreaker { self.handles.withLock { $0[2] } }
    var held: CircuitBreaker { self.handles.withLock { $0[3] } }

    private func violated(_ how: String) { self.report.violated("\(self.what): \(how)") }

    // MARK: - Calls

    /// A call that fails, which must run exactly once, and end with its own error.
    func fail(_ breaker: CircuitBreaker) async {
        self.tick()
        var runs = 0
        do {
            try await breaker.run { () async throws in
                runs += 1
                throw Boom()
            }
        } catch {
            self.noteEnd(error, of: breaker)
        }
        if runs != 1 { self.violated("the operation ran \(runs) times") }
    }

    func failSynchronously(_ breaker: CircuitBreaker) {
        self.tick()
        var runs = 0
        do {
            try breaker.run { () throws in
                runs += 1
                throw Boom()
            }
        } catch {
            self.noteEnd(error, of: breaker)
        }
        if runs != 1 { self.violated("the operation ran \(runs) times") }
    }

    private func noteEnd(_ error: any Error, of breaker: CircuitBreaker) {
        if error is Boom {
            self.noteFailure(of: breaker)
        } else {
            self.violated("the call ended with \(error)")
        }
    }

    func succeed(_ breaker: CircuitBreaker) async {
        self.tick()
        var runs = 0
        do {
            let value = try await breaker.run { () async throws in
                runs += 1
                return 7
            }
            if value != 7 { self.violated("the call returned \(value)") }
        } catch {
            self.violated("the call ended with \(error)")
        }
        if runs != 1 { self.violated("the operation ran \(runs) times") }
    }

    func record(_ breaker: CircuitBreaker) async {
        self.tick()
        await breaker.recordFailure(Boom())
        self.noteFailure(of: breaker)
    }

    /// Each failure has a time of its own.
    private func tick() { self.clock.advance(by: .milliseconds(1)) }

    private func noteFailure(of breaker: CircuitBreaker) {
        guard breaker.name == "counting" else { return }
        let time = self.clock.wallTime
        self.state.withLock { $0.times.append(Self.milliseconds(time)) }
    }

    private static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1_000).rounded()) }

    // MARK: - What comes before

    func becomeOpen() async throws { for _ in 0..<3 { await self.fail(self.tripping) } }

    func becomeDue() async throws {
        try await self.becomeOpen()
        self.clock.advance(by: .seconds(30))
    }

    /// Until the next commits make the store's thread copy the log.
    func fillLog() async { for _ in 0..<40 { await self.fail(self.counting) } }

    // MARK: - What may fail

    /// Runs it, and looks how the store says that it went.
    func perform(_ operation: Operation) async throws {
        let start = ContinuousClock.now
        do {
            try await operation.perform(self)
        } catch is BreakerStoreError {
            // An operator hears of it.
        } catch {
            self.violated("it threw \(error)")
        }
        let time = ContinuousClock.now - start
        if time > Self.patience { self.violated("it took \(time)") }
        self.look()
    }

    /// Notes whether the store has said that it can't use the file.
    private func look() {
        if case .degraded = self.store.health { self.state.withLock { $0.wasDegraded = true } }
    }

    func reopen() throws {
        self.store.close()
        let store = try CircuitStore(path: self.directory + "/a.db", configuration: Self.configuration(self.clock))
        self.state.withLock { $0.store = store }
        let handles = try Self.register(in: store)
        self.handles.withLock { $0 = handles }
    }

    func createAnother() throws {
        try CircuitStore(path: self.directory + "/b.db", configuration: Self.configuration(self.clock)).close()
    }

    /// While nothing can be written, failures trip the circuit all the same: in memory, and it is refused there.
    ///
    /// False if the store came back in between, even for a moment: the file may hold one of the failures then, and
    /// memory the others, or the file be asked alone.
    @discardableResult
    func protectInMemory() async throws -> Bool {
        guard case .degraded(let since, error: _) = self.store.health else { return false }
        self.state.withLock { $0.wasDegraded = true }
        // From now on a loss has another time.
        self.tick()
        for _ in 0..<3 { _ = try? await self.held.run { () async throws in throw Boom() } }
        var wasLetThrough = false
        do {
            try await self.held.run {}
            wasLetThrough = true
        } catch is CircuitOpenError {
        } catch {
            self.violated("the call ended with \(error)")
        }
        guard case .degraded(since, error: _) = self.store.health else { return false }
        if wasLetThrough { self.violated("memory lets a call through that three failures should have stopped") }
        return true
    }

    // MARK: - Afterwards

    /// Nothing fails any longer: the store comes back with all that was reported meanwhile.
    func comeBack() async throws {
        if case .closed = self.store.health { try self.reopen() }
        let deadline = ContinuousClock.now + Self.patience
        while true {
            if case .healthy = self.store.health, self.reports == self.expected, self.historyTells { break }
            self.look()
            guard ContinuousClock.now < deadline else {
                self.violated("the store did not come back: \(self.store.health), \(self.difference)")
                return
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        if self.state.withLock({ $0.wasDegraded }) { self.report.add(1, "recoveries") }
        try self.check()
    }

    private var expected: [Int64] { self.state.withLock { $0.times } }

    private var reports: [Int64]? {
        (try? self.store.circuit(named: "counting"))??.failures.map(Self.milliseconds)
    }

    /// Whether one event says that the file could not be used, and one that it can again.
    private var historyTells: Bool {
        guard self.state.withLock({ $0.wasDegraded }) else { return true }
        let kinds = (try? self.store.history())?.map(\.kind) ?? []
        return kinds.contains(.degraded) && kinds.contains(.restored)
    }

    private var difference: String {
        "the history \(self.historyTells ? "tells of it" : "says nothing"), expected \(self.expected.count) failures, \(self.reports.map { "\($0.count)" } ?? "none can be") read"
    }

    private func check() throws {
        let path = self.directory + "/a.db"
        for violation in StoreJudge(StoreFile(path)).violations { self.violated(violation) }
        // What the system did for a while is nothing that is wrong with the file.
        let names = try FileManager.default.contentsOfDirectory(atPath: self.directory)
        for name in names where name.contains(".corrupt-") { self.violated("it was set aside as \(name)") }
        // What could not be created can be now.
        try self.createAnother()
    }
}

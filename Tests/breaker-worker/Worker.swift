import BreakerStore
import BreakerTestSupport

/// The failure of calls that are to fail.
struct Boom: Error {}

/// What one process of a test does with its store: `perform` has all verbs.
final class Worker {
    struct Missing: Error {
        let what: String
    }

    private let sharedClock: SharedClock?
    private var openStore: CircuitStore?
    var breakers: [String: CircuitBreaker] = [:]
    var permit: CallPermit?
    /// The permits of steps, by circuit.
    var permits: [String: CallPermit] = [:]
    let ears = Ears()
    var remembered: [String: [UInt8]] = [:]
    var hungCall: HungCall?
    /// Calls that hang until their time is over, and how each of them ended.
    var hungCalls: [Task<String, Never>] = []
    /// How long the slowest call of the last command took, or the opening.
    var slowest = Duration.zero
    /// So that no circuit of an earlier use is met again.
    var uses = 0
    var busyCalls: BusyCalls?
    /// The bytes that this process had when `memory begin` was said.
    var idleMemory = 0
    let pointsReached = Locked(0)
    /// Whether threads that come to the point of `stop-at` wait there.
    let isStopping = Locked(false)
    var cancelledCalls: CancelledCalls?
    var linkSeat: LinkSeat?
    #if PostgreSQL
    var fleetLink: Link?
    #endif

    /// - Parameter clock: what the worker lives by; nil for the host's clock.
    init(clock: SharedClock?) { self.sharedClock = clock }

    func perform(_ command: Command) async throws -> String {
        switch command.verb {
        case "open": return try self.open(command)
        case "close": return try await self.leave()
        case "health": return "health=\(try self.store.health)"
        case "breaker": return try self.register(command)
        case "breakers": return try self.registerMany(command)
        case "call", "fail": return try await self.call(command)
        case "took": return "slowest=\(Int64(self.slowest / .microseconds(1)))"
        case "fail-tasks": return try await self.failInTasks(command)
        case "fail-and-die": return try self.failAndDie(command)
        case "admit": return try self.admit(command)
        case "succeed", "failed", "discard": return try self.end(command)
        case "ignored", "leak": return try self.endWithoutVerdict(command)
        case "begin": return try await self.begin(command)
        case "finish": return try await self.finish(command)
        case "crowd": return try await self.crowd(command)
        case "press": return try await self.press(command)
        case "leave-child": return try self.leaveChild(command)
        case "hold", "release", "reset", "probe", "forget": return try self.actAsOperator(command)
        case "look": return try self.look(command)
        case "ask": return try self.ask(command)
        case "states": return try self.readStates(command)
        case "history": return try self.history(command)
        case "workers": return try self.workers()
        case "remember": return try self.remember(command)
        case "changed": return try self.changed(command)
        case "locked": return try self.locked(command)
        case "query": return try self.query(command)
        case "handles": return try self.takeHandles(command)
        case "fork": return try self.fork(command)
        case "fork-anew": return try self.forkAnew(command)
        case "storm": return try await self.storm(command)
        case "heard": return try await self.tellWhatWasHeard(command)
        case "events": return try self.tellHistory()
        case "steps": return try self.takeSteps(command)
        case "seat": return try self.seat(command)
        case "link": return try self.link(command)
        case "http": return try await self.callOverHTTP(command)
        case "operate": return try self.operate(command)
        case "drop": return self.drop(command)
        case "slow": return try self.callSlowly(command)
        case "totals": return try self.totals(command)
        case "recent": return try self.recent(command)
        case "private": return try self.countsPrivately()
        case "die-at": return try self.dieAt(command)
        case "stop-at": return try self.stopAt(command)
        case "let-go": return self.letGo()
        case "halt-at": return try self.haltAt(command)
        case "reason": return try self.tellReason(command)
        case "until": return try await self.waitUntil(command)
        case "reached": return self.tellReached()
        case "fork-inside": return try await self.forkInside(command)
        case "hang": return try await self.hang(command)
        case "hung": return await self.hung()
        case "measure": return try await self.measure(command)
        case "busy": return try await self.callBusily(command)
        case "user": return try self.becomeUser(command)
        case "squat": return try self.squat(command)
        case "forbid-shared-sleep": return try self.forbidSharedSleep()
        case "run": return try self.run(command)
        case "limit-files": return try self.limitFiles(command)
        case "memory": return self.tellMemory(command)
        case "use-damaged": return try await self.useDamaged()
        case "use-hostile": return try await self.useHostile(command)
        case "trip": return try await self.trip(command)
        case "settle": return try await self.settle(command)
        case "healthy": return try await self.waitForHealth(command)
        case "watch": return try self.watch(command)
        case "forget-names": return try self.forgetNames(command)
        default: throw Missing(what: "a command '\(command.verb)'")
        }
    }

    var clock: SharedClock {
        get throws {
            guard let clock = self.sharedClock else { throw Missing(what: "a clock that can be moved") }
            return clock
        }
    }

    var store: CircuitStore {
        get throws {
            guard let store = self.openStore else { throw Missing(what: "an open store") }
            return store
        }
    }

    /// Makes a store this process's own.
    func use(_ store: CircuitStore) { self.openStore = store }

    func breaker(_ name: String) throws -> CircuitBreaker {
        guard let breaker = self.breakers[name] else { throw Missing(what: "a breaker '\(name)'") }
        return breaker
    }

    var configuration: CircuitStore.Configuration {
        var configuration = CircuitStore.Configuration()
        if let sharedClock { configuration.clock = sharedClock }
        // A busy machine is no failure, unless the test says how long it may take.
        configuration.busyTimeout = .hangLimit
        return configuration
    }

    // MARK: - Opening

    private func open(_ command: Command) throws -> String {
        var configuration = self.configuration
        if command.has("system-clock") { configuration.clock = SystemHostClock() }
        if let patience = command.option("busy") { configuration.busyTimeout = .seconds(patience) }
        if let count = command.option("kept") { configuration.eventsKept = Int(count) }
        // The shared clock, moved on by each call.
        if command.has("ticking") { configuration.clock = TickingClock(shared: try self.clock) }
        if let pause = command.option("first-retry") { configuration.firstRetry = .milliseconds(pause) }
        if command.has("never") { configuration.migration = .never }
        if command.has("degrade") {
            configuration.whenUnavailable = .degrade
            // Not for a store that degrades: with this patience its opening would hang where somebody is in the way.
            configuration.openingPatience = .forEver
        }
        let listens = command.option("listening") != nil
        if listens { configuration.onEvent = self.ears.handle }
        let start = ContinuousClock.now
        let store = try CircuitStore(path: try command.word(0), configuration: configuration)
        self.slowest = ContinuousClock.now - start
        if listens { self.ears.follow(store.events()) }
        self.openStore = store
        return "ok"
    }

    @discardableResult
    func leave() async throws -> String {
        try await self.endLink()
        await self.busyCalls?.end()
        self.busyCalls = nil
        self.openStore?.close()
        self.openStore = nil
        return "ok"
    }

    /// `drop store|handles`: lets go of the store without closing it, or of the handles.
    private func drop(_ command: Command) -> String {
        if (try? command.word(0)) == "store" { self.openStore = nil } else { self.breakers.removeAll() }
        return "ok"
    }

    private func register(_ command: Command) throws -> String {
        let name = try command.word(0)
        self.breakers[name] = try self.store.breaker(self.config(named: name, command))
        return "ok"
    }

    /// Registers `<prefix>0` and onward.
    private func registerMany(_ command: Command) throws -> String {
        for number in 0..<(try command.number(1)) {
            let name = try "\(command.word(0))\(number)"
            self.breakers[name] = try self.store.breaker(self.config(named: name, command))
        }
        return "ok"
    }

    func config(named name: String, _ command: Command) -> CircuitBreaker.Config {
        let count = Int(command.option("failures") ?? 5)
        var config = CircuitBreaker.Config(
            name: name,
            recoveryTimeout: .seconds(command.option("recovery") ?? 30),
            maxFailures: count,
            rollingWindow: .seconds(command.option("window") ?? 60)
        )
        config.group = command.text("group")
        self.setRecovery(of: &config, command)
        if let consecutive = command.option("consecutive") { config.trip = .consecutiveFailures(Int(consecutive)) }
        config.probes.limit = Int(command.option("limit") ?? 1)
        config.probes.successesToClose = Int(command.option("successes") ?? 1)
        config.probes.lease = .seconds(command.option("lease") ?? 30)
        config.minimumReporters = Int(command.option("reporters") ?? 1)
        self.setShares(of: &config, command)
        return config
    }
}

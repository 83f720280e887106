import BreakerStore
import BreakerTestSupport

/// What all processes of an era are told, and what they tell of themselves.
final class HistoryPlan: Sendable {
    static let processes = 8
    /// Each process has a thread and a task that call.
    static let lanes = 2 * HistoryPlan.processes

    /// Whether the process has a task beside its thread.
    ///
    /// One without closes its store now and then.
    static func hasTask(_ process: Int) -> Bool { process.isMultiple(of: 2) }

    private enum Place: Int {
        case phase, isOver, isSystemClock, circuits, acts, number, isConsecutive, multiplier, probes, successes, lease
        case eventsKept
        case resting = 32
        case degraded = 64
        case restored = 96
    }

    let directory: String
    private let numbers: SharedNumbers

    init(_ directory: String) throws {
        self.directory = directory
        self.numbers = try SharedNumbers(path: directory + "/plan")
    }

    private subscript(place: Place, offset: Int = 0) -> Int64 {
        get { self.numbers[place.rawValue + offset] }
        set { self.numbers[place.rawValue + offset] = newValue }
    }

    // MARK: - The plan

    /// The history that is being made; zero or below between two.
    var phase: Int64 {
        get { self[.phase] }
        set { self[.phase] = newValue }
    }

    var isOver: Bool {
        get { self[.isOver] != 0 }
        set { self[.isOver] = newValue ? 1 : 0 }
    }

    /// Whether the store goes by the system's clock, as the tool does.
    ///
    /// No time passes then as far as circuits go.
    var isSystemClock: Bool {
        get { self[.isSystemClock] != 0 }
        set { self[.isSystemClock] = newValue ? 1 : 0 }
    }

    var eventsKept: Int {
        get { Int(self[.eventsKept]) }
        set { self[.eventsKept] = Int64(newValue) }
    }

    var circuits: Int {
        get { Int(self[.circuits]) }
        set { self[.circuits] = Int64(newValue) }
    }

    /// How many calls each lane makes at most.
    var acts: Int {
        get { Int(self[.acts]) }
        set { self[.acts] = Int64(newValue) }
    }

    var rules: HistoryRules {
        get {
            var rules = HistoryRules()
            rules.number = Int(self[.number])
            rules.isConsecutive = self[.isConsecutive] != 0
            rules.multiplier = self[.multiplier]
            rules.probes = Int(self[.probes])
            rules.successes = Int(self[.successes])
            rules.lease = self[.lease]
            if self.isSystemClock { (rules.recovery, rules.cap) = (36_000_000_000, 36_000_000_000) }
            return rules
        }
        set {
            self[.number] = Int64(newValue.number)
            self[.isConsecutive] = newValue.isConsecutive ? 1 : 0
            self[.multiplier] = newValue.multiplier
            self[.probes] = Int64(newValue.probes)
            self[.successes] = Int64(newValue.successes)
            self[.lease] = newValue.lease
        }
    }

    static func name(_ circuit: Int, in phase: Int64) -> String { "history-\(phase)-\(circuit)" }

    func config(_ circuit: Int, in phase: Int64) -> CircuitBreaker.Config {
        let rules = self.rules
        return .init(
            name: Self.name(circuit, in: phase),
            trip: rules.isConsecutive
                ? .consecutiveFailures(rules.number) : .failures(rules.number, within: .seconds(360_000)),
            recovery: RecoveryRule(
                timeout: .microseconds(rules.recovery), multiplier: Double(rules.multiplier),
                cap: .microseconds(rules.cap)),
            probes: ProbeRule(
                limit: rules.probes, successesToClose: rules.successes, lease: .microseconds(rules.lease)))
    }

    // MARK: - The store

    /// The store has a directory of its own, which goes and comes.
    var home: String { self.directory + "/home" }
    var store: String { self.home + "/circuits.db" }
    var clock: String { self.directory + "/clock" }

    /// A store that waits long for others: only what is broken on purpose degrades it.
    func openStore(_ access: Access, of process: Int? = nil) throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        configuration.busyTimeout = .seconds(30)
        configuration.firstRetry = .milliseconds(1)
        configuration.eventsKept = self.eventsKept
        configuration.access = access
        if !self.isSystemClock { configuration.clock = try SharedClock(path: self.clock) }
        if let process {
            configuration.onHealth = { health in
                switch health {
                case .healthy: self[.restored, process] = CallLog.now
                case .degraded: self[.degraded, process] = CallLog.now
                case .closed: break
                }
            }
        }
        return try CircuitStore(path: self.store, configuration: configuration)
    }

    // MARK: - What the processes tell

    /// A lane makes no call.
    func rest(_ lane: Int, in phase: Int64) { self[.resting, lane] = phase }

    func isResting(_ lane: Int, in phase: Int64) -> Bool { self[.resting, lane] == phase }

    /// When the process was degraded for the last time, and when it had its file again; zero for never.
    func health(of process: Int) -> (degraded: Int64, restored: Int64) {
        (self[.degraded, process], self[.restored, process])
    }
}

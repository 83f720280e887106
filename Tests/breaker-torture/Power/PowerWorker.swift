import BreakerStore
import BreakerTestSupport
import CRecorder

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that uses a store while all that it writes is recorded, with each call's begin and end.
final class PowerWorker {
    /// The error of a failed call.
    private struct Told: Error {
        let text: String
    }

    static let configs: [CircuitBreaker.Config] = [
        PowerWorker.config("counting", .failures(1_000_000, within: .seconds(86_400))),
        PowerWorker.config("tripping", .failures(3, within: .seconds(86_400))),
        PowerWorker.config("twice", .failures(2, within: .seconds(86_400)), probes: 2),
        PowerWorker.config("consecutive", .consecutiveFailures(4)),
    ]
    private static let passing = "passing"
    /// A machine that is busy with other things is no violation.
    private static let patience = Duration.hangLimit
    /// So many bytes more than there are: too few for the reserve.
    private static let room: Int64 = 300_000

    private static func config(_ name: String, _ trip: TripRule, probes: Int = 1) -> CircuitBreaker.Config {
        .init(
            name: name, trip: trip, recovery: RecoveryRule(timeout: .milliseconds(2)),
            probes: ProbeRule(limit: probes, lease: .seconds(3_600)))
    }

    private let path: String
    private let clock: SharedClock
    private let plan: PowerPlan
    private var random: SeededRandom
    private var store: CircuitStore?
    private var breakers: [CircuitBreaker] = []
    private var permits: [CallPermit] = []
    private var number = 0

    /// Returns the exit code.
    ///
    /// - Parameter arguments: the directory, the record, the clock, the plan, and a sync that is left out.
    static func run(_ arguments: [String]) -> Int32 {
        do {
            guard arguments.count > 6, let plan = PowerPlan(arguments[3..<7]) else { return 64 }
            guard unsafe recorder_start(arguments[1], arguments[0]) else { throw SystemError("record") }
            if arguments.dropFirst(7).first == PowerFault.tripSync.rawValue { recorder_leave_out_syncs_of_writers() }
            let worker = try PowerWorker(arguments[0] + "/a.db", SharedClock(path: arguments[2]), plan)
            try worker.play()
            recorder_stop()
            return recorder_has_overflown() ? 2 : 0
        } catch {
            Report.say("power: a worker ended with \(error)")
            return 1
        }
    }

    private init(_ path: String, _ clock: SharedClock, _ plan: PowerPlan) throws {
        self.path = path
        self.clock = clock
        self.plan = plan
        self.random = SeededRandom(seed: plan.seed)
    }

    static func mark(_ text: String) { unsafe recorder_mark(text, text.utf8.count) }

    private func play() throws {
        if self.plan.scene == .full { recorder_leave_room(Self.room) }
        try self.open()
        for number in 0..<self.plan.acts {
            if self.plan.scene == .full, number == self.plan.acts * 2 / 3 { self.makeRoom() }
            if Int.random(in: 0..<40, using: &self.random) == 0 {
                self.close()
                try self.open()
            }
            self.act()
        }
        // A process that just ends leaves its rows.
        if Bool.random(using: &self.random) { self.close() }
    }

    private func open() throws {
        var configuration = CircuitStore.Configuration()
        configuration.clock = TickingClock(shared: self.clock)
        configuration.durability = self.plan.durability
        configuration.busyTimeout = Self.patience
        configuration.firstRetry = .milliseconds(1)
        configuration.whenUnavailable = .degrade
        configuration.eventsKept = 1_000_000
        configuration.workerName = "power"
        self.number += 1
        Self.mark("began \(self.number) open")
        let store = try CircuitStore(path: self.path, configuration: configuration)
        self.store = store
        var policy = CallPolicy()
        policy.describe = { ($0 as? Told)?.text ?? "" }
        self.breakers = try Self.configs.map { try store.breaker($0, calls: policy) }
        Self.mark("done \(self.number) 0")
    }

    private func close() {
        self.permits = []
        self.breakers = []
        self.store?.close()
        self.store = nil
    }

    private func makeRoom() {
        recorder_leave_room(-1)
        let end = ContinuousClock.now + Self.patience
        while !self.isHealthy, ContinuousClock.now < end { usleep(500) }
    }

    private var isHealthy: Bool { self.store?.health.isHealthy ?? false }

    // MARK: - Calls

    /// Makes a call, and says so before and after: it is acknowledged if the store is healthy then.
    private func act() {
        guard let store else { return }
        _ = self.clock.tick(1_000)
        self.number += 1
        let breaker = self.breakers.randomElement(using: &self.random) ?? self.breakers[0]
        let told = Told(text: "call \(getpid()).\(self.number) " + String(repeating: "x", count: 60))
        let kind = Int.random(in: 0..<100, using: &self.random)
        let what =
            switch kind {
            case ..<45: "failure"
            case ..<53: "success"
            case ..<65: "admission"
            case ..<80: "permit"
            case ..<84: "reset"
            case ..<90: "hold"
            case ..<95: "release"
            case ..<97: "forget"
            default: "configuration"
            }
        Self.mark("began \(self.number) \(what) \(breaker.name)")
        do {
            switch what {
            case "failure": breaker.recordFailure(told)
            case "success": breaker.recordSuccess()
            case "admission": if let permit = try? breaker.admit() { self.permits.append(permit) }
            case "permit": self.usePermit(told)
            case "reset": try store.reset(breaker.name, by: told.text)
            case "hold":
                let time: Duration? = Bool.random(using: &self.random) ? .milliseconds(3) : nil
                try store.hold(breaker.name, kind.isMultiple(of: 2) ? .open : .closed, for: time, by: told.text)
            case "release": try store.release(breaker.name, by: told.text)
            case "forget": try store.forget(Self.passing)
            default: _ = try store.breaker(.init(name: Self.passing, group: told.text))
            }
        } catch {
            // The file has no room, or there is no such circuit.
        }
        Self.mark("done \(self.number) \(self.isHealthy ? 1 : 0)")
    }

    private func usePermit(_ told: Told) {
        guard let place = self.permits.indices.randomElement(using: &self.random) else { return }
        let permit = self.permits.remove(at: place)
        switch Int.random(in: 0..<5, using: &self.random) {
        case 0, 1: permit.fail(told)
        case 2, 3: permit.succeed()
        default: permit.discard()
        }
    }
}

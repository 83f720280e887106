import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One thread or task of a process that calls circuits at random, and writes down each call and its answer.
struct HistoryCaller {
    struct Bad: Error {}
    struct Ignored: Error {}

    struct Held {
        var circuit: Int
        var admission: Int
        var permit: CallPermit
    }

    struct Begun {
        var number: Int
        var wasHealthy: Bool
    }

    let plan: HistoryPlan
    let log: CallLog
    let lane: Int
    let fault: HistoryFault?
    private let clock: SharedClock?
    private let mayRestart: Bool
    var store: CircuitStore
    var random: SeededRandom
    var breakers: [CircuitBreaker] = []
    var permits: [Held] = []
    private var phase: Int64 = 0
    /// What a faulty caller was told before, by circuit.
    var looks: [Int: (CallLog.Answer, Int64)] = [:]
    var refusals: [Int: (CallLog.Answer, Int64)] = [:]
    /// The failures that a faulty caller keeps to itself.
    var lost: [CallPermit] = []

    /// - Parameter arguments: the directory, which process it is, the seed, and what it does wrong, if anything.
    static func run(_ arguments: [String]) async -> Int32 {
        guard arguments.count >= 3, let process = Int(arguments[1]), let seed = UInt64(arguments[2]) else { return 64 }
        alarm(600)
        StaleAnswersEnd.watch { _exit(0) }
        do {
            let plan = try HistoryPlan(arguments[0])
            let fault = arguments.count > 3 ? HistoryFault(rawValue: arguments[3]) : nil
            let store = try Self.open(plan, process)
            let isAlone = !HistoryPlan.hasTask(process)
            let caller = try Self(plan, 2 * process, seed, fault, store, mayRestart: isAlone)
            let callers = Locked(isAlone ? 1 : 2)
            _ = StoreThread().start {
                var caller = caller
                caller.callInPhases()
                callers.withLock { $0 -= 1 }
            }
            if !isAlone {
                let caller = try Self(plan, 2 * process + 1, seed &+ 1, fault, store, mayRestart: false)
                Task.detached {
                    var caller = caller
                    await caller.callInPhasesAsTask()
                    callers.withLock { $0 -= 1 }
                }
            }
            while callers.withLock({ $0 > 0 }) { usleep(1_000) }
            return 0
        } catch {
            Report.say("histories: process \(process) ended with \(error)")
            return 1
        }
    }

    /// The file may be away just now.
    private static func open(_ plan: HistoryPlan, _ process: Int) throws -> CircuitStore {
        let deadline = ContinuousClock.now + .hangLimit
        while true {
            do { return try plan.openStore(.existing, of: process) } catch {
                guard ContinuousClock.now < deadline else { throw error }
                usleep(1_000)
            }
        }
    }

    private init(
        _ plan: HistoryPlan, _ lane: Int, _ seed: UInt64, _ fault: HistoryFault?, _ store: CircuitStore,
        mayRestart: Bool
    ) throws {
        self.plan = plan
        self.lane = lane
        self.fault = fault
        self.store = store
        self.mayRestart = mayRestart
        self.random = SeededRandom(seed: seed)
        self.log = try CallLog(plan.directory, lane)
        self.clock = plan.isSystemClock ? nil : try SharedClock(path: plan.clock)
    }

    private var uptime: Int64 { self.clock?.uptime.saturatingMicroseconds ?? 0 }

    // MARK: - Phases

    private mutating func callInPhases() {
        while !self.plan.isOver {
            guard self.begins() else {
                usleep(200)
                continue
            }
            self.register()
            for _ in 0..<Int.random(in: 1...self.plan.acts, using: &self.random) {
                usleep(self.pause())
                self.perform(self.next())
                self.mayWaitForFile()
            }
            self.finish()
        }
    }

    private mutating func callInPhasesAsTask() async {
        while !self.plan.isOver {
            guard self.begins() else {
                try? await Task.sleep(for: .microseconds(200))
                continue
            }
            self.register()
            for _ in 0..<Int.random(in: 1...self.plan.acts, using: &self.random) {
                try? await Task.sleep(for: .microseconds(self.pause()))
                await self.perform(self.next())
                self.mayWaitForFile()
            }
            self.finish()
        }
    }

    /// Whether there is a history in which this lane has not rested yet.
    private mutating func begins() -> Bool {
        let phase = self.plan.phase
        guard phase > 0, !self.plan.isResting(self.lane, in: phase) else { return false }
        self.phase = phase
        self.permits = []
        self.lost = []
        self.looks = [:]
        self.refusals = [:]
        return true
    }

    /// Mostly waits if the file is away: of many calls whose answers are not known little can be judged.
    private mutating func mayWaitForFile() {
        if !self.store.health.isHealthy, Int.random(in: 0..<3, using: &self.random) > 0 { self.waitForFile() }
    }

    private func waitForFile() {
        while !self.store.health.isHealthy, !self.plan.isOver { usleep(1_000) }
    }

    /// A lane whose store does not come back does not rest, which the driver notices.
    private func finish() {
        self.waitForFile()
        self.plan.rest(self.lane, in: self.phase)
    }

    private mutating func register() {
        var policy = CallPolicy()
        policy.classify = { $0 is Ignored ? .ignored : .failure }
        var breakers: [CircuitBreaker] = []
        for circuit in 0..<self.plan.circuits {
            while true {
                let begun = self.begin(.register, circuit)
                let breaker = try? self.store.breaker(self.plan.config(circuit, in: self.phase), calls: policy)
                self.end(begun, breaker == nil ? .failed : .done)
                if let breaker {
                    breakers.append(breaker)
                    break
                }
                usleep(1_000)
            }
        }
        self.breakers = breakers
    }

    private mutating func pause() -> UInt32 {
        switch Int.random(in: 0..<10, using: &self.random) {
        case 0..<5: 0
        case 5..<8: UInt32.random(in: 0...300, using: &self.random)
        default: UInt32.random(in: 0...2_000, using: &self.random)
        }
    }

    private mutating func next() -> HistoryAct {
        if let act = self.preparesFault() { return act }
        return .next(
            &self.random, circuits: self.breakers.count, permits: self.permits.count, mayRestart: self.mayRestart)
    }

    // MARK: - Writing down

    func begin(
        _ what: CallLog.What, _ circuit: Int, argument: Int64 = 0, admission: Int = -1
    ) -> Begun {
        let uptime = self.uptime
        let record = CallLog.Record(
            what: what, phase: self.phase, circuit: circuit, begin: 0, argument: argument, admission: admission,
            clock: uptime...uptime)
        return Begun(number: self.log.begin(record), wasHealthy: self.store.health.isHealthy)
    }

    func end(_ begun: Begun, _ answer: CallLog.Answer, _ value: Int64 = CallLog.noValue) {
        let isHealthy = self.store.health.isHealthy && begun.wasHealthy
        self.log.end(begun.number, answer, value, clock: self.uptime, isHealthy: isHealthy)
    }

    private func answer(_ refusal: CircuitOpenError) -> (CallLog.Answer, Int64) {
        let left = refusal.retryAfter?.saturatingMicroseconds ?? CallLog.noValue
        switch refusal.cause {
        case .open: return (.open, left)
        case .held: return (.held, left)
        case .probing: return (.probing, CallLog.noValue)
        }
    }

    private func answer(_ snapshot: CircuitSnapshot?) -> (CallLog.Answer, Int64) {
        guard let snapshot else { return (.nobody, CallLog.noValue) }
        let word: HistoryCircuit.Look.Word =
            switch snapshot.state {
            case .closed: .closed
            case .open: .open
            case .halfOpen: .halfOpen
            case .held(.open, _): .heldOpen
            case .held(.closed, _): .heldClosed
            }
        let look = HistoryCircuit.Look(
            word: word, failures: snapshot.failureCount, probes: snapshot.probes.count, trips: snapshot.tripsInARow)
        return (.done, look.packed)
    }

    func answer(to error: BreakerStoreError) -> CallLog.Answer {
        error.code == .noSuchCircuit ? .nobody : .failed
    }

    // MARK: - Calling on a thread

    mutating func perform(_ act: HistoryAct) {
        switch act {
        case .admit(let circuit):
            if self.repeatsRefusal(circuit) { return }
            let begun = self.begin(.admit, circuit)
            do throws(CircuitOpenError) {
                self.admitted(begun, circuit, try self.breakers[circuit].admit())
            } catch {
                self.refused(begun, circuit, error)
            }
        case .run(let circuit, let outcome):
            let admission = self.begin(.admit, circuit)
            var report: Begun?
            do {
                try self.breakers[circuit].run {
                    self.end(admission, .ran)
                    report = self.begin(.report, circuit, argument: outcome.rawValue, admission: admission.number)
                    try outcome.perform()
                }
            } catch let error as CircuitOpenError {
                return self.refused(admission, circuit, error)
            } catch {}
            if let report { self.end(report, .done) }
        case .report(let place, let outcome, let isLater):
            let held = self.permits.remove(at: place)
            let begun = self.begin(
                .report, held.circuit, argument: outcome.rawValue, admission: held.admission)
            if !self.reportsWrongly(held.circuit, held.permit, outcome) {
                switch (outcome, isLater) {
                case (.success, false): held.permit.succeed()
                case (.failure, false): held.permit.fail(Bad())
                case (.success, true): held.permit.succeedLater()
                case (.failure, true): held.permit.failLater(Bad())
                case (.ignored, _): held.permit.discard()
                }
            }
            self.end(begun, isLater ? .later : .done)
        case .record(let circuit, let outcome):
            let begun = self.begin(.record, circuit, argument: outcome.rawValue)
            switch outcome {
            case .success: self.breakers[circuit].recordSuccess()
            case .failure: if !self.losesFailure() { self.breakers[circuit].recordFailure(Bad()) }
            case .ignored: self.breakers[circuit].recordFailure(Ignored())
            }
            self.end(begun, .done)
        case .operate(let circuit, let what):
            let name = self.breakers[circuit].name
            let time = self.timeOfHold()
            let begun = self.begin(what, circuit, argument: time)
            do throws(BreakerStoreError) {
                switch what {
                case .reset: try self.store.reset(name)
                case .holdOpen: try self.store.hold(name, .open, for: time == 0 ? nil : .microseconds(time))
                case .holdClosed: try self.store.hold(name, .closed, for: time == 0 ? nil : .microseconds(time))
                case .release: try self.store.release(name)
                case .probe: try self.store.probe(name)
                case .forget: try self.store.forget(name)
                case .register, .admit, .report, .record, .look, .permitted, .close: break
                }
                self.end(begun, .done)
            } catch {
                self.end(begun, self.answer(to: error))
            }
        case .look(let circuit):
            if self.repeatsLook(circuit) { return }
            let begun = self.begin(.look, circuit)
            do throws(BreakerStoreError) {
                self.looked(begun, circuit, try self.store.circuit(named: self.breakers[circuit].name))
            } catch {
                self.end(begun, .failed)
            }
        case .ask(let circuit):
            let begun = self.begin(.permitted, circuit)
            self.end(begun, self.breakers[circuit].isCallPermitted ? .yes : .no)
        case .restart: self.restart()
        }
    }

    mutating func admitted(_ begun: Begun, _ circuit: Int, _ permit: CallPermit) {
        self.end(begun, .ran)
        self.permits.append(Held(circuit: circuit, admission: begun.number, permit: permit))
    }

    mutating func refused(_ begun: Begun, _ circuit: Int, _ refusal: CircuitOpenError) {
        let (answer, left) = self.answer(refusal)
        if self.fault == .secondProbe, answer == .probing { return self.end(begun, .ran) }
        self.refusals[circuit] = (answer, left)
        self.end(begun, answer, left)
    }

    mutating func looked(_ begun: Begun, _ circuit: Int, _ snapshot: CircuitSnapshot?) {
        let (answer, look) = self.answer(snapshot)
        self.looks[circuit] = (answer, look)
        self.end(begun, answer, look)
    }

    /// For how many microseconds a hold lasts; zero for until it is released.
    private mutating func timeOfHold() -> Int64 {
        guard self.clock != nil, Bool.random(using: &self.random) else { return 0 }
        return Int64.random(in: 1...20, using: &self.random) * 1_000_000
    }

    /// Closes the store and opens it again, as a process does that ends in order.
    private mutating func restart() {
        for held in self.permits {
            let outcome = RecordedOutcome.ignored.rawValue
            let begun = self.begin(.report, held.circuit, argument: outcome, admission: held.admission)
            held.permit.discard()
            self.end(begun, .later)
        }
        self.permits = []
        self.breakers = []
        let begun = self.begin(.close, -1)
        self.store.close()
        self.log.end(begun.number, .done, 0, clock: self.uptime, isHealthy: begun.wasHealthy)
        guard let store = try? Self.open(self.plan, self.lane / 2) else { return Report.say("histories: no store") }
        self.store = store
        self.register()
    }
}

extension RecordedOutcome {
    /// Ends a call so.
    func perform() throws {
        switch self {
        case .success: return
        case .failure: throw HistoryCaller.Bad()
        case .ignored: throw HistoryCaller.Ignored()
        }
    }
}

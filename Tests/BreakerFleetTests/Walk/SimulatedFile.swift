import BreakerStore

@testable import BreakerFleet

/// A host's file in the walk: one circuit, as the library's own machine treats it.
struct SimulatedFile {
    struct Event {
        var kind: CircuitEvent.Kind
        var at: Int64
        var by: String?
    }

    /// What a person does.
    enum Action: Equatable {
        case reset
        case hold(HoldState, left: Int64?)
        case release
        case probe
    }

    enum State: Equatable {
        case closed
        case open(until: Int64)
        case halfOpen
    }

    static let threshold = 3
    static let window: Int64 = 60_000_000
    static let recovery: Int64 = 1_000_000
    static let longestRecovery: Int64 = 600_000_000

    let worker: WorkerID
    /// Whether a success forgets the failures.
    let isConsecutive: Bool
    private(set) var epoch: Epoch = 1
    private(set) var state = State.closed
    private(set) var hold: (state: HoldState, since: Int64, until: Int64?, by: String?)?
    private(set) var failures: [(number: Int64, at: Int64)] = []
    private(set) var refusals: UInt64 = 0
    private(set) var events: [Event] = []
    /// With the time at which each was said in place of an age.
    private(set) var commands: [OperatorCommand.Kind: OperatorCommand] = [:]
    private var trips = 0
    /// Whether a probe is under way.
    private var isProbing = false
    private var newest: Int64 = 0

    init(worker: WorkerID, isConsecutive: Bool) {
        self.worker = worker
        self.isConsecutive = isConsecutive
    }

    private mutating func number() -> Int64 {
        self.newest += 1
        return self.newest
    }

    private mutating func move(to state: State, _ kind: CircuitEvent.Kind?, by who: String? = nil, at now: Int64) {
        self.state = state
        self.epoch = Epoch(self.epoch.rawValue + 1)
        self.isProbing = false
        if let kind { self.note(kind, by: who, at: now) }
    }

    private mutating func note(_ kind: CircuitEvent.Kind, by who: String?, at now: Int64) {
        self.events.append(Event(kind: kind, at: now, by: who))
        if self.events.count > 100 { self.events.removeFirst(50) }
    }

    private mutating func endHold(at now: Int64) {
        if let until = self.hold?.until, until <= now { self.hold = nil }
    }

    private mutating func trip(_ kind: CircuitEvent.Kind, at now: Int64) {
        self.trips += 1
        self.move(to: .open(until: now + Self.recovery), kind, at: now)
    }

    // MARK: - Calls

    enum Admission: Equatable {
        case through, refused
        case probe(epoch: Epoch)
    }

    mutating func call(at now: Int64) -> Admission {
        self.endHold(at: now)
        if let hold = self.hold {
            if hold.state == .open { self.refusals += 1 }
            return hold.state == .open ? .refused : .through
        }
        switch self.state {
        case .closed: return .through
        case .open(let until) where now >= until:
            self.move(to: .halfOpen, .probing, at: now)
            self.isProbing = true
            return .probe(epoch: self.epoch)
        case .halfOpen where !self.isProbing:
            self.isProbing = true
            return .probe(epoch: self.epoch)
        case .open, .halfOpen:
            self.refusals += 1
            return .refused
        }
    }

    mutating func ended(well: Bool, at now: Int64) {
        guard self.hold == nil, self.state == .closed else { return }
        if well {
            if self.isConsecutive { self.failures.removeAll() }
            return
        }
        self.failures.append((self.number(), now))
        if !self.isConsecutive { self.failures.removeAll { now - $0.at > Self.window } }
        if self.failures.count >= Self.threshold { self.trip(.tripped, at: now) }
    }

    /// A probe ended; nil stands for no verdict.
    mutating func probeEnded(well: Bool?, epoch: Epoch, at now: Int64) {
        guard epoch == self.epoch, self.state == .halfOpen else { return }
        self.isProbing = false
        guard let well else { return }
        if well {
            self.failures.removeAll()
            self.trips = 0
            self.move(to: .closed, .closed, at: now)
        } else {
            self.trip(.reopened, at: now)
        }
    }

    // MARK: - Operators and orders

    /// Returns whether there was anything to do.
    @discardableResult
    mutating func operate(_ action: Action, by who: String, at now: Int64) -> Bool {
        self.endHold(at: now)
        let floor = self.commands.values.map { $0.lamportTime ?? $0.floor + 1 }.max() ?? 0
        var command = OperatorCommand(
            kind: .hold, number: self.worker.rawValue << 32 + self.number(), floor: floor, age: now, by: who)
        switch action {
        case .reset:
            command.kind = .reset
            self.reset(by: who, endsHold: true, at: now)
        case .hold(let state, let left):
            (command.hold, command.holdFor) = (state, left)
            self.hold(state, left, by: who, at: now)
        case .release:
            guard self.release(by: who, at: now) else { return false }
        case .probe:
            command.kind = .probe
            guard self.hold == nil, case .open(let until) = self.state, now < until else { return false }
            self.move(to: .open(until: now), .probeAllowed, by: who, at: now)
        }
        self.commands[command.kind] = command
        return true
    }

    private mutating func reset(by who: String, endsHold: Bool, at now: Int64) {
        self.failures.removeAll()
        self.trips = 0
        if endsHold { self.hold = nil }
        self.move(to: .closed, .reset, by: who, at: now)
    }

    private mutating func hold(_ state: HoldState, _ left: Int64?, by who: String, at now: Int64) {
        if self.state == .halfOpen { self.state = .open(until: now) }
        self.hold = (state, now, left.map { now + $0 }, who)
        self.move(to: self.state, .held, by: who, at: now)
    }

    private mutating func release(by who: String, at now: Int64) -> Bool {
        guard self.hold != nil else { return false }
        self.hold = nil
        self.move(to: self.state, .released, by: who, at: now)
        return true
    }

    // MARK: - Words

    /// As `Transaction.stampCommands`.
    private mutating func stampCommands(_ serverTime: Int64, notBefore: Int64, at now: Int64) {
        var newest = notBefore
        for var command in self.commands.values.sorted(by: { $0.age < $1.age }) where command.lamportTime == nil {
            newest = max(newest, command.floor + 1, serverTime - (now - command.age))
            command.lamportTime = newest
            self.commands[command.kind] = command
        }
    }

    /// As `Transaction.obey`.
    private mutating func obey(_ command: OperatorCommand, keepsTrip: Bool, by who: String, at now: Int64) -> Bool {
        guard let stamp = command.stamp else { return false }
        func isOlder(_ kind: OperatorCommand.Kind) -> Bool {
            self.commands[kind].map { $0.stamp.map { $0 < stamp } ?? false } ?? true
        }
        guard isOlder(command.kind) else { return false }
        let (endsHold, isOver) = (isOlder(.hold), !isOlder(.reset))
        switch command.kind {
        case .hold:
            if let state = command.hold, command.left != 0, !isOver {
                self.hold(state, command.left, by: who, at: now)
            } else {
                _ = self.release(by: who, at: now)
            }
        case .reset where keepsTrip: if endsHold { _ = self.release(by: who, at: now) }
        case .reset:
            let hasOld = self.failures.contains { $0.at <= now - command.age }
            if self.state != .closed || self.hold != nil && endsHold || hasOld {
                self.reset(by: who, endsHold: endsHold, at: now)
            }
        case .probe: break
        }
        var kept = command
        kept.age = now - command.age
        self.commands[command.kind] = kept
        return true
    }

    /// As `CircuitStore.obey`.
    mutating func obey(_ order: LinkOrder, ifEpoch epoch: Epoch, by who: String, at now: Int64) -> Epoch? {
        self.endHold(at: now)
        guard epoch == self.epoch else { return nil }
        switch order {
        case .open(let time, let trips):
            let kind: CircuitEvent.Kind = self.state == .closed ? .tripped : .reopened
            self.trips = trips
            self.move(to: .open(until: now + min(time, Self.longestRecovery)), kind, by: who, at: now)
        case .extend(let time):
            guard case .open(let until) = self.state else { return nil }
            self.state = .open(until: max(until, now + min(time, Self.longestRecovery)))
        case .close:
            guard self.state != .closed else { return self.epoch }
            self.failures.removeAll()
            self.trips = 0
            self.move(to: .closed, .closed, by: who, at: now)
        case .obey(let command, let keepsTrip, _):
            guard self.obey(command, keepsTrip: keepsTrip, by: who, at: now) else { return nil }
        case .stamp(let serverTime, let notBefore): self.stampCommands(serverTime, notBefore: notBefore, at: now)
        case .probe:
            guard self.hold == nil, case .open(let until) = self.state else { return nil }
            if now < until { self.move(to: .open(until: now), nil, at: now) }
        }
        return self.epoch
    }

    // MARK: - What a link sees

    var isOwnTrip: Bool { self.tripEvent.map { !LinkOrder.isOfFleet($0.by) } ?? false }

    private var tripEvent: Event? {
        let newest = self.events.last { [.tripped, .closed, .reset].contains($0.kind) }
        return newest?.kind == .tripped ? newest : nil
    }

    func look(at now: Int64) -> LinkedCircuit {
        func event(_ event: Event) -> LinkedCircuit.Event {
            LinkedCircuit.Event(kind: event.kind, age: now - event.at, by: event.by)
        }
        let transitions: [CircuitEvent.Kind] = [.tripped, .reopened, .closed, .probing, .reset]
        let hold = self.hold.flatMap { $0.until.map { $0 > now } ?? true ? $0 : nil }
        let state: LinkedCircuit.State =
            switch self.state {
            case .closed: .closed
            case .open(let until): .open(left: max(0, until - now))
            case .halfOpen: .halfOpen
            }
        return LinkedCircuit(
            name: "a", epoch: self.epoch, state: state,
            hold: hold.map { .init(state: $0.state, age: now - $0.since, left: $0.until.map { $0 - now }, by: $0.by) },
            tripsInARow: self.trips, liveProbes: self.isProbing ? 1 : 0,
            counting: .init(failures: Self.threshold, window: self.isConsecutive ? nil : Self.window),
            recovery: Self.recovery, longestRecovery: Self.longestRecovery,
            failures: self.failures.filter { self.isConsecutive || now - $0.at <= Self.window }.map {
                .init(key: .init(worker: self.worker, number: $0.number), age: now - $0.at)
            },
            refusals: self.refusals, transition: self.events.last { transitions.contains($0.kind) }.map(event),
            trip: self.tripEvent.map(event),
            commands: self.commands.values.sorted { $0.kind.rawValue < $1.kind.rawValue }.map { command in
                var command = command
                command.age = now - command.age
                return command
            })
    }
}

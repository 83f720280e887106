import BreakerStore

@testable import BreakerFleet

/// The server in the walk: what the statements of design section 7 do, on one register.
struct SimulatedServer {
    struct Row {
        var generation: Int64
        var state = Register.State.closed
        var since: Int64
        var openUntil: Int64 = 0
        var openFor: Int64 = 0
        var trips = 0
        var reason: String?
        var by: String?
        var commands: [OperatorCommand.Kind: OperatorCommand] = [:]
        var lease: (host: String, ends: Int64, time: Int64)?
    }

    struct Failure: Hashable {
        var host: String
        var key: LinkedCircuit.Key
    }

    private(set) var row: Row?
    private var failures: [Failure: Int64] = [:]
    /// How far the server's clock is from the walk's.
    var offset: Int64 = 1_000_000_000
    let alteration: Alteration?

    init(_ alteration: Alteration?) { self.alteration = alteration }

    func time(_ now: Int64) -> Int64 { now + self.offset }

    /// Creates the register, and returns it in durations.
    mutating func read(at now: Int64) -> Register {
        let now = self.time(now)
        let row = self.row ?? Row(generation: now, since: 0)
        self.row = row
        func left(_ end: Int64, _ whole: Int64) -> Int64 {
            let left = end - now
            if left > whole, self.alteration != .trustsStamps { return 0 }
            return max(0, left)
        }
        var register = Register(
            name: "a", generation: row.generation, state: row.state, age: max(0, now - row.since),
            since: row.since, trips: row.trips, reason: row.reason, by: row.by,
            commands: Self.commands(of: row, at: now))
        if row.state == .open {
            register.left = left(row.openUntil, row.openFor)
            register.openFor = row.openFor
        }
        if let lease = row.lease {
            let rest = left(lease.ends, lease.time)
            if rest > 0 { register.lease = .init(host: lease.host, left: rest) }
        }
        return register
    }

    private static func commands(of row: Row, at now: Int64) -> [OperatorCommand] {
        row.commands.values.sorted { $0.kind.rawValue < $1.kind.rawValue }.map { command in
            var command = command
            command.age = max(0, now - (command.lamportTime ?? 0))
            return command
        }
    }

    /// Whether a hold is in force.
    func isHeld(at now: Int64) -> Bool {
        guard let row = self.row, row.commands[.hold]?.lamportTime ?? 0 <= self.time(now) + 1_000_000 else {
            return false
        }
        return Register(
            name: "a", generation: 1, state: .closed, age: 0, commands: Self.commands(of: row, at: self.time(now))
        ).hold != nil
    }

    mutating func mirror(_ host: String, _ file: LinkedCircuit, at now: Int64) {
        let isShared = self.alteration == .successForgetsAll && file.failures.isEmpty
        let keys = Set(file.failures.map(\.key))
        let countsRepeats = self.alteration == .countsRepeats
        self.failures = self.failures.filter {
            !isShared && ($0.key.host != host || countsRepeats || keys.contains($0.key.key))
        }
        for failure in file.failures {
            var key = Failure(host: host, key: failure.key)
            if countsRepeats { key.key.worker = WorkerID(1_000 + Int64(self.failures.count)) }
            if self.failures[key] == nil { self.failures[key] = self.time(now) - failure.age }
        }
    }

    func count(_ rule: LinkedCircuit.Counting, at now: Int64) -> Count? {
        guard let row = self.row else { return nil }
        let start = max(row.since, rule.window.map { self.time(now) - $0 } ?? .min)
        let counted = self.failures.filter { row.state == .closed && $0.value >= start }
        return Count(
            generation: row.generation, failures: Int64(counted.count), hosts: Set(counted.keys.map(\.host)).count)
    }

    mutating func perform(_ request: Request, of host: String, at real: Int64) -> Outcome {
        let now = self.time(real)
        guard var row = self.row else { return .refused }
        func isOver(_ end: Int64, _ whole: Int64) -> Bool { end <= now || end > now + whole }
        let isDue = row.state == .open && isOver(row.openUntil, row.openFor)
        let isFree = row.lease.map { isOver($0.ends, $0.time) } ?? true
        func accept(isNew: Bool) -> Outcome {
            // The real time stands for a random number.
            if isNew { row.generation = max(row.generation + 1 + real % 1_000, now) }
            self.row = row
            return .accepted(generation: row.generation)
        }
        func open(for time: Int64) {
            row.state = .open
            row.since = now
            row.openUntil = now + time
            row.openFor = time
            row.trips += 1
            row.lease = nil
            row.by = nil
        }
        func close() {
            row.state = .closed
            row.since = now
            row.trips = 0
            row.lease = nil
            row.by = nil
        }
        switch request {
        case .trip(let generation, let time, let reason):
            guard row.generation == generation, row.state == .closed else { return .refused }
            open(for: time)
            row.reason = reason
            self.failures.removeAll()
            return accept(isNew: true)
        case .elect(let generation):
            if self.alteration == .electsAll { return .accepted(generation: row.generation) }
            guard row.generation == generation, isDue, !self.isHeld(at: real), isFree || row.lease?.host == host else {
                return .refused
            }
            row.lease = (host, now + Walk.lease, Walk.lease)
            return accept(isNew: false)
        case .renew(let generation):
            guard row.generation == generation, row.lease?.host == host else { return .refused }
            row.lease = (host, now + Walk.lease, Walk.lease)
            return accept(isNew: false)
        case .yield(let generation):
            guard row.generation == generation, row.lease?.host == host else { return .refused }
            row.lease = nil
            return accept(isNew: false)
        case .verdict(let generation, let verdict, let isElected):
            guard row.generation == generation, row.state == .open,
                isElected ? row.lease?.host == host : isDue && isFree
            else { return .refused }
            switch verdict {
            case .closed: close()
            case .open(let time): open(for: time)
            }
            return accept(isNew: true)
        case .send(let command):
            guard let stamp = command.stamp else { return .refused }
            // A stamp ahead of now is of a clock that was set back since.
            let isInTime = row.since <= stamp.lamportTime || row.since > now + 1_000_000
            if command.kind == .probe {
                guard row.state == .open, isInTime else { return .refused }
                row.openUntil = now
                row.lease = (host, now + Walk.lease, Walk.lease)
                row.by = command.by
                return accept(isNew: true)
            }
            guard row.commands[command.kind]?.stamp.map({ $0 < stamp }) ?? true else { return .refused }
            row.commands[command.kind] = command
            guard command.kind == .reset else {
                row.lease = nil
                return accept(isNew: false)
            }
            guard isInTime else { return accept(isNew: false) }
            close()
            row.since = stamp.lamportTime
            row.by = command.by
            return accept(isNew: true)
        case .offer(let register):
            guard register.generation > row.generation else { return .refused }
            row.generation = register.generation
            row.state = register.state
            row.since = now - register.age
            row.openUntil = now + register.left
            row.openFor = register.openFor
            row.trips = register.trips
            row.by = register.by
            row.lease = nil
            return accept(isNew: false)
        }
    }

    /// Another server takes over that has not got the newest commits.
    mutating func failOver(to old: SimulatedServer) {
        self = old
    }
}

/// A rule of design section 7, broken on purpose: the walk must notice each.
enum Alteration: String, CaseIterable, Sendable {
    /// Rule 2: a failure that is pushed again counts again.
    case countsRepeats
    /// Rule 3: one host's failures suffice.
    case needsOneHost
    /// Rule 4: an order is carried out whatever the file's epoch is.
    case ignoresEpochs
    /// Rule 5: a host's own trip looks like the fleet's.
    case closesOwnTrips
    /// Rule 6: nothing is extended.
    case extendsNothing
    /// Rule 7: everybody gets the right to probe.
    case electsAll
    /// Rule 8: no operator's word goes up.
    case keepsCommands
    /// Rule 8: no file keeps the words that it has heard.
    case forgetsCommands
    /// Rule 9: nothing is offered to a server that has lost it.
    case offersNothing
    /// Rule 10: stamps of the server's clock are trusted however far ahead they are.
    case trustsStamps
    /// Rule 11: nobody remembers that a probe of the host's own closed the file.
    case forgetsOwnProbes
    /// Rule 12: a success forgets the failures of all hosts.
    case successForgetsAll
}

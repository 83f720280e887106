import BreakerStore

@testable import BreakerFleet

/// A history of simulated hosts, made of random numbers, held against what links promise.
struct Walk {
    static let lease: Int64 = 5_000_000
    static let guardTime: Int64 = 10_000_000

    struct Host {
        let name: String
        var file: SimulatedFile
        var link: CircuitLink?
        var isConnected = true
        /// Whether the link has not said anything since it was connected.
        var isNew = true
        /// How far the host's clock is from the walk's.
        let offset: Int64
        var probe: (epoch: Epoch, ends: Int64)?
        var seen: Int64 = 0
        /// How often the file was opened for a generation.
        var openings: [Int64: Int] = [:]
        var traffic = false
        /// Whether somebody was faster than an order of this turn of the link: that happens once a turn.
        var hasMetSomebody = false
    }

    var violations: [String] = []
    /// What happened, if it is kept.
    let log: WalkLog
    let alteration: Alteration?
    var random: Numbers
    var now: Int64 = 1_000_000_000
    var hosts: [Host] = []
    var server: SimulatedServer
    var replica: SimulatedServer
    var isServiceUp = true
    /// Whether something has happened since all was well that may lead to two probes at once.
    var isDisturbed = false
    var hasStepped = false
    /// Whether nothing goes wrong any more.
    var isSettling = false
    var failures: [(host: String, at: Int64)] = []
    var lastHold: (state: HoldState, until: Int64?)?
    var lastOperation: Int64 = 0

    init(seed: UInt64, alteration: Alteration? = nil, keepsTrace: Bool = false) {
        self.random = Numbers(seed: seed)
        self.alteration = alteration
        self.log = WalkLog(isKept: keepsTrace)
        self.server = SimulatedServer(alteration)
        self.replica = self.server
        let isConsecutive = self.random.chance(0.3)
        for index in 0..<Int.random(in: 2...4, using: &self.random) {
            self.hosts.append(
                Host(
                    name: "h\(index)",
                    file: SimulatedFile(worker: WorkerID(Int64(index + 1)), isConsecutive: isConsecutive),
                    offset: Int64.random(in: 0...10_000_000_000, using: &self.random)))
            self.hosts[index].link = self.newLink(index)
        }
    }

    func newLink(_ index: Int) -> CircuitLink {
        CircuitLink(
            .init(
                host: "h\(index)", minimumHosts: self.alteration == .needsOneHost ? 1 : 2, guardTime: Self.guardTime,
                lease: Self.lease))
    }

    mutating func violate(_ what: String) {
        self.violations.append(what)
        self.log.add(self.now, "VIOLATION \(what)")
    }

    // MARK: - A history

    mutating func run(steps: Int) {
        self.round()
        for _ in 0..<steps where self.violations.isEmpty { self.act() }
        if self.violations.isEmpty { self.settle() }
    }

    mutating func act() {
        let index = Int.random(in: 0..<self.hosts.count, using: &self.random)
        switch Int.random(in: 0..<100, using: &self.random) {
        case 0..<30: self.pass(.random(in: 1_000...300_000, using: &self.random))
        case 30..<40: self.pass(.random(in: 300_000...3_000_000, using: &self.random))
        case 40..<43: self.idle(for: .random(in: 3_000_000...14_000_000, using: &self.random))
        case 43..<60: self.call(index, isGood: false)
        case 60..<66: self.call(index, isGood: true)
        case 66..<72: self.isServiceUp.toggle()
        case 72..<77: self.hosts[index].traffic.toggle()
        case 77..<81: self.disconnect(index)
        case 81..<87: self.connect(index)
        case 87..<89: self.stopLink(index)
        case 89..<92: self.operate(index)
        case 92..<94: self.replica = self.server
        case 94..<95: self.failOver()
        case 95..<96 where self.random.chance(0.3): self.stepClock()
        default: self.round()
        }
    }

    mutating func idle(for time: Int64) {
        let before = self.hosts.map(\.traffic)
        for index in self.hosts.indices { self.hosts[index].traffic = false }
        self.pass(time)
        for index in self.hosts.indices { self.hosts[index].traffic = before[index] }
    }

    /// Time passes: links look at what has changed, at the latest each second.
    mutating func pass(_ time: Int64) {
        let end = self.now + time
        while self.now < end, self.violations.isEmpty {
            self.now = min(end, self.now + .random(in: 5_000...250_000, using: &self.random))
            for index in self.hosts.indices {
                if let probe = self.hosts[index].probe, probe.ends <= self.now {
                    self.hosts[index].probe = nil
                    let verdict = self.random.chance(0.2) ? nil : self.isServiceUp
                    self.log.add(self.now, "\(self.hosts[index].name) probe ended, well: \(verdict as Any)")
                    self.hosts[index].file.probeEnded(well: verdict, epoch: probe.epoch, at: self.now)
                }
                if self.hosts[index].traffic { self.call(index, isGood: self.isServiceUp) }
                if self.random.chance(0.6) || self.now - self.hosts[index].seen >= 1_000_000 { self.cycle(index) }
            }
            self.watch()
        }
    }

    mutating func round() {
        for _ in 0..<3 { for index in self.hosts.indices { self.cycle(index) } }
        self.watch()
        self.expectTrip()
    }

    // MARK: - Calls

    mutating func call(_ index: Int, isGood: Bool) {
        switch self.hosts[index].file.call(at: self.now) {
        case .through:
            self.hosts[index].file.ended(well: isGood, at: self.now)
            if !isGood { self.failures.append((self.hosts[index].name, self.now)) }
        case .refused: break
        case .probe(let epoch):
            self.log.add(self.now, "\(self.hosts[index].name) probes")
            let time = Int64.random(in: 10_000...2_000_000, using: &self.random)
            self.hosts[index].probe = (epoch, self.now + time)
            let host = self.hosts[index]
            if !self.isDisturbed, !host.file.isOwnTrip, self.server.row?.lease?.host != host.name {
                self.violate("\(host.name) probes without the right to")
            }
        }
    }

    // MARK: - Links

    mutating func look(_ index: Int) -> LinkedCircuit {
        var file = self.hosts[index].file.look(at: self.now)
        switch self.alteration {
        case .closesOwnTrips: file.trip = nil
        case .extendsNothing:
            if case .open(let left) = file.state, left > 0 { file.state = .open(left: .max / 2) }
        case .keepsCommands: file.commands.removeAll { $0.lamportTime == nil }
        case .forgetsCommands: file.commands.removeAll { $0.lamportTime != nil }
        case .forgetsOwnProbes: if file.state == .closed { file.transition = nil }
        default: break
        }
        return file
    }

    mutating func cycle(_ index: Int) {
        guard self.hosts[index].isConnected, var link = self.hosts[index].link else { return }
        self.hosts[index].seen = self.now
        self.hosts[index].hasMetSomebody = false
        let host = self.hosts[index]
        let local = self.now + host.offset
        self.server.mirror(host.name, self.look(index), at: self.now)
        var register: Register? =
            self.server.row == nil && self.random.chance(0.5) ? nil : self.server.read(at: self.now)
        if host.isNew {
            link.reconnected()
            if let offer = link.offer(to: register, at: local), self.alteration != .offersNothing {
                _ = self.server.read(at: self.now)
                self.log.add(self.now, "\(host.name) offers \(offer)")
                _ = self.server.perform(offer, of: host.name, at: self.now)
                register = nil
            }
            self.hosts[index].isNew = false
        }
        link.learn(register ?? self.server.read(at: self.now), at: local)
        let count = self.look(index).counting.flatMap { self.server.count($0, at: self.now) }
        for turn in 0... {
            let file = self.look(index)
            guard
                let step = link.next(
                    file, count, at: local, serverTime: self.server.time(self.now),
                    draw: .random(in: 0..<1, using: &self.random))
            else {
                if let time = link.wakesAt, time <= local { self.violate("\(host.name) would never sleep") }
                break
            }
            if turn == 12 {
                self.violate("\(host.name) never ends: \(step)")
                break
            }
            self.log.add(self.now, "\(host.name) \(step)")
            switch step {
            case .order(let order, let by, _):
                link.done(order, epoch: self.obey(order, index, file, by: by), at: local)
            case .request(let request):
                guard let outcome = self.perform(request, index) else {
                    self.disconnect(index)
                    self.hosts[index].link = link
                    return
                }
                self.log.add(self.now, "   \(outcome)")
                link.done(request, outcome, file, at: local)
                if link.needsRead { link.learn(self.server.read(at: self.now), at: local) }
            }
        }
        self.hosts[index].link = link
    }

    mutating func obey(_ order: LinkOrder, _ index: Int, _ seen: LinkedCircuit, by: String) -> Epoch? {
        let file = self.hosts[index].file
        let isStale = !self.isSettling && !self.hosts[index].hasMetSomebody && self.random.chance(0.05)
        if isStale { self.hosts[index].hasMetSomebody = true }
        // Somebody may be faster than the order.
        if isStale, self.alteration == nil || self.alteration == .ignoresEpochs {
            let name = self.hosts[index].name
            self.now += 1
            self.hosts[index].file.operate(.hold(.open, left: nil), by: "fast@\(name)", at: self.now)
            self.isDisturbed = true
            self.heard(.hold(.open, left: nil))
        }
        switch order {
        case .close where file.isOwnTrip: self.violate("\(self.hosts[index].name)'s own trip was closed")
        case .open:
            let isClosed = file.state == .closed
            let last = file.events.last { [.tripped, .closed, .reset].contains($0.kind) }
            if isClosed, !self.hasStepped, let last, last.kind == .closed, !LinkOrder.isOfFleet(last.by),
                let row = self.server.row, last.at > row.since - self.server.offset
            {
                self.violate("\(self.hosts[index].name) was opened again after its own probe had closed it")
            }
        default: break
        }
        let epoch = self.alteration == .ignoresEpochs ? self.hosts[index].file.epoch : seen.epoch
        let held = self.hosts[index].file.hold
        let epochBefore = self.hosts[index].file.epoch
        let result = self.hosts[index].file.obey(order, ifEpoch: epoch, by: by, at: self.now)
        // A half-open file that may probe no longer is opened for the same generation.
        if case .open = order, file.state != .halfOpen, result != nil { self.noteOpening(index) }
        if result != nil, seen.epoch != epochBefore {
            self.violate("\(self.hosts[index].name) obeyed an order though its file had moved on")
        }
        if isStale, let held, held.by?.hasPrefix("fast") == true, self.hosts[index].file.hold?.by != held.by {
            self.violate("\(self.hosts[index].name)'s operator was overruled by an order that came later")
        }
        return result
    }

    private mutating func noteOpening(_ index: Int) {
        let generation = self.server.row?.generation ?? 0
        self.hosts[index].openings[generation, default: 0] += 1
        if self.hosts[index].openings[generation, default: 0] > 1, !self.hasStepped, !self.isDisturbed {
            self.violate("\(self.hosts[index].name) was opened twice for one generation")
        }
    }

    /// Nil if the answer or the request was lost.
    mutating func perform(_ request: Request, _ index: Int) -> Outcome? {
        let name = self.hosts[index].name
        if case .trip = request { self.expectReason(for: request) }
        if !self.isSettling, self.random.chance(0.01) { return nil }
        let outcome = self.server.perform(request, of: name, at: self.now)
        if self.random.chance(0.02) { _ = self.server.perform(request, of: name, at: self.now) }
        return !self.isSettling && self.random.chance(0.01) ? nil : outcome
    }

    // MARK: - What goes wrong

    mutating func disconnect(_ index: Int) {
        self.log.add(self.now, "\(self.hosts[index].name) is cut off")
        self.hosts[index].isConnected = false
        self.isDisturbed = true
    }

    mutating func connect(_ index: Int) {
        if self.hosts[index].link == nil { self.hosts[index].link = self.newLink(index) }
        guard !self.hosts[index].isConnected else { return }
        self.log.add(self.now, "\(self.hosts[index].name) is connected")
        self.hosts[index].isConnected = true
        self.hosts[index].isNew = true
    }

    /// The link's process ends; another one may take over at once.
    mutating func stopLink(_ index: Int) {
        self.log.add(self.now, "\(self.hosts[index].name)'s link ends")
        self.isDisturbed = true
        self.hosts[index].link = nil
        self.hosts[index].isConnected = false
        if self.random.chance(0.5) { self.connect(index) }
    }

    mutating func failOver() {
        self.log.add(self.now, "fail-over")
        self.isDisturbed = true
        self.server.failOver(to: self.replica)
        for index in self.hosts.indices { self.disconnect(index) }
    }

    mutating func stepClock() {
        self.log.add(self.now, "the server's clock steps")
        self.isDisturbed = true
        self.hasStepped = true
        self.server.offset += self.random.chance(0.5) ? 3_600_000_000 : -3_600_000_000
    }

    mutating func operate(_ index: Int) {
        let operation: SimulatedFile.Action =
            switch Int.random(in: 0..<5, using: &self.random) {
            case 0: .reset
            case 1: .hold(self.random.chance(0.5) ? .open : .closed, left: nil)
            case 2: .hold(.open, left: .random(in: 1_000_000...5_000_000, using: &self.random))
            case 3: .release
            default: .probe
            }
        self.now += 1
        guard self.hosts[index].file.operate(operation, by: "ann", at: self.now) else { return }
        self.log.add(self.now, "\(self.hosts[index].name) operator: \(operation)")
        self.isDisturbed = true
        self.heard(operation)
    }

    mutating func heard(_ operation: SimulatedFile.Action) {
        self.lastOperation = self.now
        switch operation {
        case .reset, .release: self.lastHold = nil
        case .hold(let state, let left): self.lastHold = (state, left.map { self.now + $0 })
        case .probe: break
        }
    }
}

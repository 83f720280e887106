import BreakerStore

/// The state machine of a link for one circuit: a pure value, without a clock, a file or a server.
///
/// The owner reads the file and the register, and asks for the next step until there is none. Each step is one
/// transaction on the file or one statement on the server; the owner reports its outcome before asking again. All
/// times are microseconds of one monotonic clock, and durations.
struct CircuitLink: Sendable, Hashable {
    struct Settings: Sendable, Hashable {
        var host: String
        /// How many hosts must have failures before the fleet trips.
        var minimumHosts = 2
        /// How long beyond the fleet's open time a host with a dead link refuses calls before it probes.
        var guardTime: Int64 = 10_000_000
        /// How long a host keeps the right to probe when its link sends nothing more.
        var lease: Int64 = 5_000_000

        /// A link returns the right to probe when no call has used it for this long.
        static let unused: Int64 = 2_000_000
        /// The longest time that an answer of the server may take; a later one is not used.
        static let onTheWay: Int64 = 1_000_000
        /// The longest random time before a link asks for the right to probe, so that not all links ask at once.
        static let jitter = 50_000.0
        /// How much longer the links of hosts without calls wait.
        static let courtesy: Int64 = 1_000_000
        /// How long after a refusal a link asks for no trip and no right to probe.
        static let quiet: Int64 = 250_000
        /// How long a link waits before it again replaces a damaged command at the server.
        static let replacing: Int64 = 1_000_000
    }

    enum Step: Sendable, Hashable {
        case order(LinkOrder, by: String, reason: String?)
        case request(Request)
    }

    /// The newest register that the file obeys.
    struct Published: Sendable, Hashable {
        var generation: Int64
        /// The file's epoch when it obeyed; nil if a probe of this host had closed the circuit already.
        var epoch: Epoch?
        var state: Register.State
    }

    /// This host has the right to probe.
    struct Probing: Sendable, Hashable {
        var since: Int64
        /// The file's epoch when it began to admit probes; nil before that.
        var epoch: Epoch?
        /// Since when the file has been half-open without a running probe.
        var idleSince: Int64?
    }

    let settings: Settings
    /// The register as the link last read it.
    var register: Register?
    private(set) var readAt: Int64 = 0
    /// Whether the link must read the register, which may have changed.
    var needsRead = true

    var published: Published?
    /// The generation that the file's state obeys; a hold may hide that state.
    var obeyed: Int64?
    var probing: Probing?
    /// Since when the register has been due while no host has the right to probe; may lie in the future.
    var freeSince: Int64?
    /// This link's random wait before it asks for the right to probe; see `Settings.jitter`.
    var jitter: Int64 = 0
    /// When the owner must ask for the next step even if nothing changes; always later than the last call of `next`.
    private(set) var wakesAt: Int64?
    /// Until then the link asks for no trip and no right to probe, because a request or an order has failed.
    var quietUntil: Int64 = .min
    /// The file's refusals when it obeyed, or when this host returned the right to probe; further ones are demand.
    var refusals: UInt64 = 0
    /// Whether this host has returned the right to probe because no call used it.
    var wasUnused = false
    /// The number of the operator's probe that the link has sent to the server.
    var publishedProbe: Int64?
    /// From then on the link may replace a damaged command at the server.
    var replacesFrom: Int64 = .min

    init(_ settings: Settings) { self.settings = settings }

    // MARK: - The server's register

    /// Sets the register that the owner has read, unless it is older than the known one.
    mutating func learn(_ register: Register, at now: Int64) {
        if let known = self.register, register.generation < known.generation { return }
        self.register = register
        self.readAt = now
        self.needsRead = false
        if register.lease != nil { self.freeSince = nil }
    }

    /// The request that offers the known register to a server that has lost its newest commits: it has an older
    /// register, or none.
    func offer(to server: Register?, at now: Int64) -> Request? {
        guard let known = self.register(at: now), server.map({ $0.generation < known.generation }) ?? true else {
            return nil
        }
        return .offer(known)
    }

    /// Makes the owner read the register again, which may have changed.
    mutating func setNeedsRead() { self.needsRead = true }

    /// Begins a new connection: the server may have lost what this link has sent.
    mutating func reconnected() {
        self.setNeedsRead()
        self.publishedProbe = nil
    }

    /// The register as it is at `now`, if it has not changed.
    private func register(at now: Int64) -> Register? {
        guard var register = self.register else { return nil }
        let passed = max(0, now.subtractingSaturating(self.readAt))
        register.age = register.age.addingSaturating(passed)
        register.left = max(0, register.left.subtractingSaturating(passed))
        register.commands = register.commands.map { $0.later(by: passed) }
        if let lease = register.lease {
            register.lease?.left = lease.left.subtractingSaturating(passed)
            if lease.left <= passed { register.lease = nil }
        }
        return register
    }

    // MARK: - The next step

    /// The next step for the circuit; nil if nothing is due.
    ///
    /// - Parameters:
    ///   - file: the circuit in the file now.
    ///   - count: the server's counts after it received this host's own failures.
    ///   - serverTime: the server's time now; nil if it is unknown.
    ///   - draw: a random number in `0..<1`.
    mutating func next(
        _ file: LinkedCircuit, _ count: Count?, at now: Int64, serverTime: Int64?, draw: Double
    ) -> Step? {
        self.wakesAt = nil
        guard !self.needsRead, let register = self.register(at: now), file.state != .unknown else { return nil }
        // Operators' commands go to the server before the file obeys an order.
        if file.commands.contains(where: { $0.lamportTime == nil }) {
            return serverTime.map { time in
                // If the file obeys the register, these commands came after it did, and are later than the register.
                let isObeyed = self.published?.generation == register.generation
                // The minimum, because `since` is far in the future if the server's clock was set back.
                let notBefore = isObeyed ? min(register.since, time.addingSaturating(Settings.onTheWay)) : 0
                return .order(.stamp(serverTime: time, notBefore: notBefore), by: LinkOrder.fleet, reason: nil)
            }
        }
        let time = serverTime ?? OperatorCommand.sendable.upperBound
        if let request = self.requestToSend(
            file, register, at: now, credible: OperatorCommand.credibleStamps(at: time))
        {
            return .request(request)
        }
        if let step = self.stepToObeyCommand(file, register, serverTime: time) { return step }
        if self.published?.generation != register.generation {
            if let step = self.stepToObeyState(file, register) { return step }
            self.setPublished(register, file, draw: draw)
        }
        switch register.state {
        case .closed:
            guard file.hold == nil, now >= self.quietUntil else { return nil }
            return self.trip(file, register, count).map(Step.request)
        case .open:
            // The file's own clock ends a hold, because people may set the server's clock.
            if let hold = file.hold { return self.stepWhileHeld(hold, file, register, at: now) }
            return self.stepWhileOpen(file, register, at: now)
        }
    }

    // MARK: - While the fleet is open

    /// How long the file must refuse calls from now on; after that, a host with a dead link probes on its own.
    func target(_ file: LinkedCircuit, _ register: Register) -> Int64 {
        min(register.left.addingSaturating(self.settings.guardTime), file.longestRecovery)
    }

    /// The order that makes the file refuse calls for longer, when less than half of the guard time is left.
    func orderToExtend(_ file: LinkedCircuit, _ register: Register) -> LinkOrder? {
        guard case .open(let left) = file.state else { return nil }
        let target = self.target(file, register)
        let slack = min(self.settings.guardTime, target) / 2
        return left < target - slack ? .extend(for: target) : nil
    }

    mutating func stepToExtend(_ file: LinkedCircuit, _ register: Register, at now: Int64) -> Step? {
        if let order = self.orderToExtend(file, register) { return .order(order, by: LinkOrder.fleet, reason: nil) }
        // Comes back before the next extension, which is due when half of the guard time is over.
        self.wake(at: now.addingSaturating(self.settings.guardTime / 4), now: now)
        return nil
    }

    /// Asks the owner to call `next` again at `time`, if that is in the future.
    mutating func wake(at time: Int64, now: Int64) {
        if time > now { self.wakesAt = min(self.wakesAt ?? time, time) }
    }

    private mutating func stepWhileOpen(_ file: LinkedCircuit, _ register: Register, at now: Int64) -> Step? {
        let isOurs = register.lease?.isOf(self.settings.host) == true
        let admitsProbes = file.state == .halfOpen || file.state == .open(left: 0)
        if self.probing == nil, isOurs, admitsProbes || self.wasClosedByProbe(file) {
            // An operator has allowed a probe, or another link of this file was elected and has died.
            self.probing = Probing(since: now, epoch: self.published?.epoch ?? file.epoch)
        }
        if let probing = self.probing { return self.stepWhileProbing(file, register, probing, at: now) }
        if self.published?.epoch != file.epoch {
            switch file.state {
            case .unknown: return nil
            case .halfOpen: return self.stepWithoutRight(file, register, at: now)
            case .closed where self.hasClosedByItself(file, since: register):
                guard register.left == 0, register.lease == nil, now >= self.quietUntil else { return nil }
                return .request(.verdict(generation: register.generation, .closed, isElected: false))
            case .closed:
                // The circuit belongs to another file, which has never obeyed the register.
                self.published = nil
                self.obeyed = nil
                return self.stepToObeyState(file, register)
            case .open: self.published?.epoch = file.epoch
            }
        }
        return self.stepToExtend(file, register, at: now)
            ?? self.requestToElect(file, register, at: now).map(Step.request)
    }

    // MARK: - Tripping

    private func trip(_ file: LinkedCircuit, _ register: Register, _ count: Count?) -> Request? {
        guard !file.isObserving, let count, count.generation == register.generation,
            let reason = TripReason(file, count, minimumHosts: self.settings.minimumHosts)
        else { return nil }
        return .trip(generation: register.generation, openFor: file.recovery, reason: reason.description)
    }
}

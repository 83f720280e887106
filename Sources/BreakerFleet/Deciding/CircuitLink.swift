import BreakerStore

/// What a link knows of one circuit, and what the link decides: a pure value, without a clock, a file or a server.
///
/// The owner looks at the file, reads the register, and asks for the next step until there is none. Each step is one
/// transaction on the file or one statement on the server; the owner reports its outcome before asking again. All
/// times are microseconds of one clock that never goes back, and durations.
struct CircuitLink: Sendable, Hashable {
    struct Settings: Sendable, Hashable {
        var host: String
        /// How many hosts must have failures before the fleet trips.
        var minimumHosts = 2
        /// How long beyond the fleet's open time a host with a dead link refuses calls before it probes.
        var guardTime: Int64 = 10_000_000
        /// How long a host keeps the right to probe when its link sends nothing more.
        var lease: Int64 = 5_000_000

        /// A link gives the right to probe back when no call has used it for this long.
        static let unused: Int64 = 2_000_000
        /// An answer that took longer than this is not used.
        static let onTheWay: Int64 = 1_000_000
        /// Links wait for at most this long before they ask for the right to probe, so that not all ask at once.
        static let jitter = 50_000.0
        /// Links of hosts without calls wait this much longer than others.
        static let courtesy: Int64 = 1_000_000
        /// How long a link asks for nothing that seems due after a refusal.
        static let quiet: Int64 = 250_000
        /// How long a link waits before it replaces a damaged word at the server once more.
        static let replacing: Int64 = 1_000_000
    }

    enum Step: Sendable, Hashable {
        case order(LinkOrder, by: String, reason: String?)
        case request(Request)
    }

    /// The newest register that the file obeys.
    struct Told: Sendable, Hashable {
        var generation: Int64
        /// The file's epoch when it obeyed; nil if a probe of this host had closed the circuit already.
        var epoch: Int64?
        var state: Register.State
    }

    /// This host has the right to probe.
    struct Probing: Sendable, Hashable {
        var since: Int64
        /// The file's epoch since the file lets probes through; nil as long as it does not.
        var epoch: Int64?
        /// Since when the file has been half-open without a running probe.
        var idleSince: Int64?
    }

    let settings: Settings
    /// The register as the link last read it.
    var register: Register?
    private(set) var readAt: Int64 = 0
    /// Whether the link must read the register, which may have changed.
    var needsRead = true

    var told: Told?
    /// The generation whose state the file has taken, beneath any hold.
    var obeyed: Int64?
    var probing: Probing?
    /// Since when the register has been due while no host has the right to probe; may lie ahead.
    var freeSince: Int64?
    var wait: Int64 = 0
    /// When to ask for the next step though nothing has changed; later than the last time it was asked for.
    private(set) var wakesAt: Int64?
    /// Until then the link asks for no trip and no right to probe: a request or an order has failed.
    var quietUntil: Int64 = .min
    /// The file's refusals when it obeyed, or when this host gave up the right to probe; more demand a probe.
    var refusals: UInt64 = 0
    /// Whether this host has given the right to probe back because no call used it.
    var wasUnused = false
    /// The operator's probe that the link has sent up, by its number.
    var toldProbe: Int64?
    /// From then on the link may replace a damaged word at the server.
    var replacesFrom: Int64 = .min

    init(_ settings: Settings) { self.settings = settings }

    // MARK: - What the server says

    /// Takes the register that the owner has read, unless it is older than the known one.
    mutating func learn(_ register: Register, at now: Int64) {
        if let known = self.register, register.generation < known.generation { return }
        self.register = register
        self.readAt = now
        self.needsRead = false
        if register.lease != nil { self.freeSince = nil }
    }

    /// Gives the known register to a server that has lost its newest commits, with an older one or none.
    func offer(to server: Register?, at now: Int64) -> Request? {
        guard let known = self.register(at: now), server.map({ $0.generation < known.generation }) ?? true else {
            return nil
        }
        return .offer(known)
    }

    /// Asks to read the register again, which may have changed.
    mutating func doubt() { self.needsRead = true }

    /// Starts on a new connection: the server may have lost what this link has sent.
    mutating func reconnected() {
        self.doubt()
        self.toldProbe = nil
    }

    /// The register as it is at `now`, if it has not changed.
    private func register(at now: Int64) -> Register? {
        guard var register = self.register else { return nil }
        let passed = max(0, now.subtractingSaturating(self.readAt))
        register.age = register.age.addingSaturating(passed)
        register.left = max(0, register.left.subtractingSaturating(passed))
        register.words = register.words.map { $0.later(by: passed) }
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
    ///   - count: what the server has counted after it got this host's own failures.
    ///   - serverTime: the server's time now; nil if it is unknown.
    ///   - draw: a random number in `0..<1`.
    mutating func next(
        _ file: LinkedCircuit, _ count: Count?, at now: Int64, serverTime: Int64?, draw: Double
    ) -> Step? {
        self.wakesAt = nil
        guard !self.needsRead, let register = self.register(at: now), file.state != .unknown else { return nil }
        // Operators' words go up before the file obeys an order.
        if file.words.contains(where: { $0.saidAt == nil }) {
            return serverTime.map { time in
                // These words came after the file obeyed, so they are about nothing older.
                let isObeyed = self.told?.generation == register.generation
                // If the server's clock was set back, `since` would be far ahead.
                let notBefore = isObeyed ? min(register.since, time.addingSaturating(Settings.onTheWay)) : 0
                return .order(.stamp(serverTime: time, notBefore: notBefore), by: LinkOrder.fleet, reason: nil)
            }
        }
        let time = serverTime ?? LinkWord.sendable.upperBound
        if let request = self.telling(
            file, register, at: now, credible: LinkWord.credibleStamps(at: time))
        {
            return .request(request)
        }
        if let step = self.hearing(file, register, serverTime: time) { return step }
        if self.told?.generation != register.generation {
            if let step = self.obedience(file, register) { return step }
            self.take(register, file, draw: draw)
        }
        switch register.state {
        case .closed:
            guard file.hold == nil, now >= self.quietUntil else { return nil }
            return self.trip(file, register, count).map(Step.request)
        case .open:
            // The file's own clock ends a hold, because the server's clock may be set.
            if let hold = file.hold { return self.whileHeld(hold, file, register, at: now) }
            return self.whileOpen(file, register, at: now)
        }
    }

    // MARK: - While the fleet is open

    /// How long the file must refuse calls from now on; after that, a host with a dead link probes on its own.
    func target(_ file: LinkedCircuit, _ register: Register) -> Int64 {
        min(register.left.addingSaturating(self.settings.guardTime), file.longestRecovery)
    }

    /// Makes the file refuse calls for longer when less than half of the guard is left.
    func `extension`(_ file: LinkedCircuit, _ register: Register) -> LinkOrder? {
        guard case .open(let left) = file.state else { return nil }
        let target = self.target(file, register)
        let slack = min(self.settings.guardTime, target) / 2
        return left < target - slack ? .extend(for: target) : nil
    }

    mutating func prolongation(_ file: LinkedCircuit, _ register: Register, at now: Int64) -> Step? {
        if let order = self.extension(file, register) { return .order(order, by: LinkOrder.fleet, reason: nil) }
        // The next extension is due when half of the guard is over.
        self.wake(at: now.addingSaturating(self.settings.guardTime / 4), now: now)
        return nil
    }

    /// Asks the owner to come back at `time`, if that lies ahead.
    mutating func wake(at time: Int64, now: Int64) {
        if time > now { self.wakesAt = min(self.wakesAt ?? time, time) }
    }

    private mutating func whileOpen(_ file: LinkedCircuit, _ register: Register, at now: Int64) -> Step? {
        let isOurs = register.lease?.isOf(self.settings.host) == true
        let letsProbes = file.state == .halfOpen || file.state == .open(left: 0)
        if self.probing == nil, isOurs, letsProbes || self.wasClosedByProbe(file) {
            // An operator has let a probe through, or another link of this file was elected and is dead.
            self.probing = Probing(since: now, epoch: self.told?.epoch ?? file.epoch)
        }
        if let probing = self.probing { return self.whileProbing(file, register, probing, at: now) }
        if self.told?.epoch != file.epoch {
            switch file.state {
            case .unknown: return nil
            case .halfOpen: return self.withoutRight(file, register, at: now)
            case .closed where self.hasClosedByItself(file, since: register):
                guard register.left == 0, register.lease == nil, now >= self.quietUntil else { return nil }
                return .request(.verdict(generation: register.generation, .closed, isElected: false))
            case .closed:
                // The circuit belongs to another file, which has never obeyed the register.
                self.told = nil
                self.obeyed = nil
                return self.obedience(file, register)
            case .open: self.told?.epoch = file.epoch
            }
        }
        return self.prolongation(file, register, at: now) ?? self.election(file, register, at: now).map(Step.request)
    }

    // MARK: - Tripping

    private func trip(_ file: LinkedCircuit, _ register: Register, _ count: Count?) -> Request? {
        guard !file.isObserving, let count, count.generation == register.generation,
            let reason = TripReason(file, count, minimumHosts: self.settings.minimumHosts)
        else { return nil }
        return .trip(generation: register.generation, openFor: file.recovery, reason: reason.description)
    }
}

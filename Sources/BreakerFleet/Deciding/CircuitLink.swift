import BreakerStore

/// What a link knows of one circuit, and what the link decides: a pure value, without a clock, a file or a server.
///
/// The owner looks at the file, reads the register, and asks for the next step until there is none. Each step is one
/// transaction on the file or one statement on the server; its outcome comes back before the next is asked for. All
/// times are microseconds of one clock that never goes back, and durations.
struct CircuitLink: Sendable, Hashable {
    struct Settings: Sendable, Hashable {
        var host: String
        /// So many hosts must have failures before the fleet trips.
        var minimumHosts = 2
        /// For so long a host goes on refusing calls when its link is dead, before the host probes by itself.
        var guardTime: Int64 = 10_000_000
        /// For so long the right to probe is one host's, if its link says nothing more.
        var lease: Int64 = 5_000_000

        /// A right to probe that no call has used for so long is given back.
        static let unused: Int64 = 2_000_000
        /// What was longer on its way from the server is not used.
        static let onTheWay: Int64 = 1_000_000
        /// Links wait for up to so long before they ask for the right to probe, so that not all ask at once.
        static let jitter = 50_000.0
        /// Links of hosts without calls let the others go first.
        static let courtesy: Int64 = 1_000_000
        /// A link that was refused says nothing more for so long.
        static let quiet: Int64 = 250_000
    }

    enum Step: Sendable, Hashable {
        case order(LinkOrder, by: String, reason: String?)
        case request(Request)
    }

    /// The newest register that the file obeys.
    struct Told: Sendable, Hashable {
        var generation: Int64
        /// The file's epoch then; nil if the file has moved on by itself since.
        var epoch: Int64?
        var state: Register.State
    }

    /// The right to probe is this host's.
    struct Probing: Sendable, Hashable {
        var since: Int64
        /// The file's epoch since it lets probes through; nil as long as it does not.
        var epoch: Int64?
        /// Since when no probe is under way though the file is half-open.
        var idleSince: Int64?
    }

    let settings: Settings
    /// The register as it was read last.
    var register: Register?
    private(set) var readAt: Int64 = 0
    /// Whether the register has changed since it was read.
    var needsRead = true

    var told: Told?
    /// The generation whose state beneath a hold the file has got.
    var obeyed: Int64?
    var probing: Probing?
    /// Since when the register is due and nobody has the right to probe; it may lie ahead.
    var freeSince: Int64?
    var wait: Int64 = 0
    /// When the next step is to be asked for though nothing has changed; never a time that was asked at already.
    private(set) var wakesAt: Int64?
    /// The server has refused what this link thought was due: the next request waits until then.
    var quietUntil: Int64 = .min
    /// The refusals of the file when it was told; more of them are a demand for a probe.
    var refusals: UInt64 = 0
    /// Whether this host has had the right to probe and no call has come.
    var wasUnused = false
    /// The probe of a person that the server has been told.
    var toldProbe: Int64?

    init(_ settings: Settings) { self.settings = settings }

    // MARK: - What the server says

    /// The register was read; what is older than what this link knows counts for nothing.
    mutating func learn(_ register: Register, at now: Int64) {
        if let known = self.register, register.generation < known.generation { return }
        self.register = register
        self.readAt = now
        self.needsRead = false
        if register.lease != nil { self.freeSince = nil }
    }

    /// What a server must be told that has an older register than this link, or none: its newest commits are lost.
    func offer(to server: Register?, at now: Int64) -> Request? {
        guard let known = self.register(at: now), server.map({ $0.generation < known.generation }) ?? true else {
            return nil
        }
        return .offer(known)
    }

    /// The server lacks the register: what is known may have changed.
    mutating func doubt() { self.needsRead = true }

    /// The connection is another one: what the server was told may be lost.
    mutating func reconnected() {
        self.doubt()
        self.toldProbe = nil
    }

    /// The register as it must be by now, unless it has changed.
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

    /// - Parameters:
    ///   - file: what the file says now.
    ///   - count: what the server has counted after this host's own failures were committed there.
    ///   - serverTime: the server's time now, as far as that is known.
    ///   - draw: a random number in `0..<1`.
    mutating func next(
        _ file: LinkedCircuit, _ count: Count?, at now: Int64, serverTime: Int64?, draw: Double
    ) -> Step? {
        self.wakesAt = nil
        guard !self.needsRead, let register = self.register(at: now), file.state != .unknown else { return nil }
        // Words go up before orders are obeyed.
        if file.words.contains(where: { $0.saidAt == nil }) {
            return serverTime.map { time in
                // A word that was said after the file had obeyed the register is about nothing older.
                let isObeyed = self.told?.generation == register.generation
                // A clock that was set back since would place the word far ahead.
                let notBefore = isObeyed ? min(register.since, time.addingSaturating(Settings.onTheWay)) : 0
                return .order(.stamp(serverTime: time, notBefore: notBefore), by: LinkOrder.fleet, reason: nil)
            }
        }
        if let request = self.telling(file, register) { return .request(request) }
        if let step = self.hearing(file, register) { return step }
        if self.told?.generation != register.generation {
            if let step = self.obedience(file, register) { return step }
            self.take(register, file, draw: draw)
        }
        switch register.state {
        case .closed:
            guard file.hold == nil, now >= self.quietUntil else { return nil }
            return self.trip(file, register, count).map(Step.request)
        case .open:
            // A hold ends by the file's own clock: the server's may be set.
            if let hold = file.hold { return self.whileHeld(hold, file, register, at: now) }
            return self.whileOpen(file, register, at: now)
        }
    }

    // MARK: - While the fleet is open

    /// For how long the file must refuse calls from now on: a dead link needs nothing then, its host probes by itself.
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
        // The next one is due when half of the guard is over.
        self.wake(at: now.addingSaturating(self.settings.guardTime / 4), now: now)
        return nil
    }

    /// Asks to be asked again then, if that lies ahead.
    mutating func wake(at time: Int64, now: Int64) {
        if time > now { self.wakesAt = min(self.wakesAt ?? time, time) }
    }

    private mutating func whileOpen(_ file: LinkedCircuit, _ register: Register, at now: Int64) -> Step? {
        let isOurs = register.lease?.isOf(self.settings.host) == true
        let letsProbes = file.state == .halfOpen || file.state == .open(left: 0)
        if self.probing == nil, isOurs, letsProbes || self.wasClosedByProbe(file) {
            // An operator has let a probe through; or another link of this file was elected, and is dead.
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
                // A circuit of another file: it has never heard of the register.
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

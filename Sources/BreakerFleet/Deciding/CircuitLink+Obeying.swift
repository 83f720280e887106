import BreakerStore

/// The operators' words, up and down, and the states that the file must obey.
extension CircuitLink {
    // MARK: - Words

    /// A probe that an operator allowed longer ago than this is over.
    private static let longestProbe: Int64 = 3_600_000_000

    /// Sends a word that the file has and the server lacks, or has lost.
    mutating func telling(
        _ file: LinkedCircuit, _ register: Register, at now: Int64, credible: ClosedRange<Int64>
    ) -> Request? {
        for kind in [LinkWord.Kind.hold, .reset] {
            guard let word = file.word(kind), let stamp = word.stamp, credible.contains(stamp.saidAt),
                register.word(kind)?.stamp.map({ $0 < stamp }) ?? true
            else { continue }
            // A link of 0.5.0 may send its damaged word again at once, without end.
            guard !register.damagedWords.contains(kind) || now >= self.replacesFrom else {
                self.wake(at: self.replacesFrom, now: now)
                continue
            }
            return .tell(word)
        }
        // An operator's probe is over once the file refuses calls again, or is closed.
        guard file.state == .open(left: 0) || file.state == .halfOpen, let probe = file.word(.probe),
            probe.age <= Self.longestProbe, probe.number != self.toldProbe
        else { return nil }
        return .tell(probe)
    }

    /// An order to obey a word that the server has and the file lacks.
    ///
    /// The newest word comes first: a hold newer than a reset stays over it, so that no call goes through between the
    /// two, and a hold older than the reset is never in force.
    func hearing(_ file: LinkedCircuit, _ register: Register, serverTime: Int64) -> Step? {
        let credible = LinkWord.credibleStamps(at: serverTime)
        for word in register.words.sorted(by: { ($0.saidAt ?? 0, $0.number) > ($1.saidAt ?? 0, $1.number) }) {
            guard let stamp = word.stamp, credible.contains(stamp.saidAt) else { continue }
            let kind = word.kind
            guard file.word(kind)?.stamp.map({ $0 < stamp || !credible.contains($0.saidAt) }) ?? true else { continue }
            let leavesTrip = kind == .reset && self.hasOpened(file, register, since: word)
            return .order(
                .obey(word, leavesTrip: leavesTrip, serverTime: serverTime), by: LinkOrder.fleet(for: word.by),
                reason: word.reason)
        }
        return nil
    }

    /// Whether this host on its own, or the fleet, opened the circuit after an operator said the reset.
    ///
    /// The reset was meant for the time before.
    private func hasOpened(_ file: LinkedCircuit, _ register: Register, since word: LinkWord) -> Bool {
        if register.state == .open, register.age < word.age { return true }
        return file.state != .closed && file.isOwnTrip && file.trip.map { $0.age < word.age } ?? false
    }

    /// The words of the file that no link sends, because their stamps are damage.
    static func unsendable(_ file: LinkedCircuit, serverTime: Int64) -> [LinkWord] {
        let credible = LinkWord.credibleStamps(at: serverTime)
        return file.words.filter { word in
            word.kind != .probe && word.saidAt.map { !credible.contains($0) } ?? false
        }
    }

    // MARK: - Obeying

    /// The order that makes the state beneath a hold obey a register's new generation, if one is needed.
    mutating func obedience(_ file: LinkedCircuit, _ register: Register) -> Step? {
        guard self.obeyed != register.generation else { return nil }
        if let order = self.order(beneath: file, register) {
            return .order(order, by: LinkOrder.fleet(for: register.by), reason: register.reason)
        }
        self.obeyed = register.generation
        return nil
    }

    private func order(beneath file: LinkedCircuit, _ register: Register) -> LinkOrder? {
        switch (register.state, file.state) {
        case (_, .unknown): return nil
        case (.open, .closed) where self.hasClosedByItself(file, since: register): return nil
        // This host may probe: an operator says so, or another link of this file was elected and is dead.
        case (.open, .open(left: 0)) where register.lease?.isOf(self.settings.host) == true: return nil
        case (.open, .halfOpen) where register.lease?.isOf(self.settings.host) == true: return nil
        case (.open, .open) where file.isOwnTrip || self.hasHeard(file, of: register, [.tripped, .reopened]):
            return self.extension(file, register)
        case (.open, _): return .open(for: self.target(file, register), trips: register.trips)
        case (.closed, .closed): return nil
        case (.closed, .open(let left)) where file.isOwnTrip:
            // The fleet kept the circuit open for longer than the host's own trip, which stays; but other hosts have
            // found the service back.
            return self.told?.state == .open && left > 0 && file.hold == nil ? .probe : nil
        case (.closed, .halfOpen) where file.isOwnTrip: return nil
        case (.closed, _): return .close
        }
    }

    /// Whether the file's newest transition is one of these kinds, and not older than the register's.
    ///
    /// If so, another link of this file has already made the file obey, or only a hold has changed.
    private func hasHeard(_ file: LinkedCircuit, of register: Register, _ kinds: [CircuitEvent.Kind]) -> Bool {
        guard let transition = file.transition, kinds.contains(transition.kind) else { return false }
        // A probe's verdict reaches the register a little later than the file, and a register is older than its age
        // says by its time on the way.
        let slack = self.told == nil ? Settings.unused : Settings.onTheWay
        return transition.age <= register.age.addingSaturating(slack)
    }

    /// Whether a probe of this host has closed the file's circuit since the register opened.
    func hasClosedByItself(_ file: LinkedCircuit, since register: Register) -> Bool {
        self.wasClosedByProbe(file) && file.transition.map { $0.age < register.age } ?? false
    }

    func wasClosedByProbe(_ file: LinkedCircuit) -> Bool {
        guard file.state == .closed, let transition = file.transition else { return false }
        return transition.kind == .closed && !LinkOrder.isOfFleet(transition.by)
    }

    /// While a hold is in force no call can probe here, so the right to probe goes to other hosts.
    ///
    /// The state beneath the hold obeys all the same: when the hold ends, no call may probe without that right.
    mutating func whileHeld(
        _ hold: LinkedCircuit.Hold, _ file: LinkedCircuit, _ register: Register, at now: Int64
    ) -> Step? {
        if let step = self.prolongation(file, register, at: now) { return step }
        if register.lease?.isOf(self.settings.host) == true { return .request(.yield(generation: register.generation)) }
        self.probing = nil
        if let left = hold.left { self.wake(at: now.addingSaturating(left), now: now) }
        return nil
    }

    /// Notes that the file obeys the register.
    mutating func take(_ register: Register, _ file: LinkedCircuit, draw: Double) {
        let isMoved = register.state == .open && file.state == .closed
        self.told = Told(
            generation: register.generation, epoch: isMoved ? nil : file.epoch, state: register.state)
        self.probing = nil
        self.freeSince = nil
        self.wait = Int64(draw * Settings.jitter)
        self.refusals = file.refusals
        self.wasUnused = false
    }
}

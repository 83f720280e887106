import BreakerStore

/// Operators' commands in both directions, and the states that the file must obey.
extension CircuitLink {
    // MARK: - Commands

    /// The age at which an operator's probe is over.
    private static let longestProbe: Int64 = 3_600_000_000

    /// The request to send a command that the file has and the server lacks, or has lost.
    mutating func requestToSend(
        _ file: LinkedCircuit, _ register: Register, at now: Int64, credible: ClosedRange<Int64>
    ) -> Request? {
        for kind in [OperatorCommand.Kind.hold, .reset] {
            guard let command = file.command(kind), let stamp = command.stamp, credible.contains(stamp.lamportTime),
                register.command(kind)?.stamp.map({ $0 < stamp }) ?? true
            else { continue }
            // Waits, because a link of 0.5.0 may send its damaged command again and again.
            guard !register.damagedCommands.contains(kind) || now >= self.replacesFrom else {
                self.wake(at: self.replacesFrom, now: now)
                continue
            }
            return .send(command)
        }
        // An operator's probe is over once the circuit in the file refuses calls again, or is closed.
        guard file.state == .open(left: 0) || file.state == .halfOpen, let probe = file.command(.probe),
            probe.age <= Self.longestProbe, probe.number != self.publishedProbe
        else { return nil }
        return .send(probe)
    }

    /// The step that makes the file obey a command that the server has and the file lacks.
    ///
    /// The newest command comes first: so a hold that is newer than a reset is in force before the reset, and no call
    /// is admitted between the two; and a hold that is older than the reset never comes into force.
    func stepToObeyCommand(_ file: LinkedCircuit, _ register: Register, serverTime: Int64) -> Step? {
        let credible = OperatorCommand.credibleStamps(at: serverTime)
        let newestFirst = register.commands.sorted {
            ($0.lamportTime ?? 0, $0.number) > ($1.lamportTime ?? 0, $1.number)
        }
        for command in newestFirst {
            guard let stamp = command.stamp, credible.contains(stamp.lamportTime) else { continue }
            let kind = command.kind
            let isNewer =
                file.command(kind)?.stamp.map { $0 < stamp || !credible.contains($0.lamportTime) } ?? true
            guard isNewer else { continue }
            let keepsTrip = kind == .reset && self.hasOpened(file, register, since: command)
            return .order(
                .obey(command, keepsTrip: keepsTrip, serverTime: serverTime), by: LinkOrder.fleet(for: command.by),
                reason: command.reason)
        }
        return nil
    }

    /// Whether this host on its own, or the fleet, opened the circuit after the operator gave the reset.
    ///
    /// Then the reset was meant for an earlier outage.
    private func hasOpened(_ file: LinkedCircuit, _ register: Register, since command: OperatorCommand) -> Bool {
        if register.state == .open, register.age < command.age { return true }
        return file.state != .closed && file.isOwnTrip && file.trip.map { $0.age < command.age } ?? false
    }

    /// The commands of the file that no link sends, because their stamps are damaged.
    static func unsendable(_ file: LinkedCircuit, serverTime: Int64) -> [OperatorCommand] {
        let credible = OperatorCommand.credibleStamps(at: serverTime)
        return file.commands.filter { command in
            command.kind != .probe && command.lamportTime.map { !credible.contains($0) } ?? false
        }
    }

    // MARK: - Obeying

    /// The step that makes the file's state obey a new generation of the register, even under a hold, if it is needed.
    mutating func stepToObeyState(_ file: LinkedCircuit, _ register: Register) -> Step? {
        guard self.obeyed != register.generation else { return nil }
        if let order = self.orderForState(file, register) {
            return .order(order, by: LinkOrder.fleet(for: register.by), reason: register.reason)
        }
        self.obeyed = register.generation
        return nil
    }

    private func orderForState(_ file: LinkedCircuit, _ register: Register) -> LinkOrder? {
        switch (register.state, file.state) {
        case (_, .unknown): return nil
        case (.open, .closed) where self.hasClosedByItself(file, since: register): return nil
        // This host may probe: an operator allowed it, or another link of this file was elected and has died.
        case (.open, .open(left: 0)) where register.lease?.isOf(self.settings.host) == true: return nil
        case (.open, .halfOpen) where register.lease?.isOf(self.settings.host) == true: return nil
        case (.open, .open) where file.isOwnTrip || self.hasObeyed(file, register, by: [.tripped, .reopened]):
            return self.orderToExtend(file, register)
        case (.open, _): return .open(for: self.target(file, register), trips: register.trips)
        case (.closed, .closed): return nil
        case (.closed, .open(let left)) where file.isOwnTrip:
            // The fleet kept the circuit open for longer than the host's own trip does, which stays in force. But other
            // hosts have found that the service works again.
            return self.published?.state == .open && left > 0 && file.hold == nil ? .probe : nil
        case (.closed, .halfOpen) where file.isOwnTrip: return nil
        case (.closed, _): return .close
        }
    }

    /// Whether the file's newest transition is one of these kinds, and not older than the register's.
    ///
    /// If so, another link of this file has already made the file obey, or only a hold has changed.
    private func hasObeyed(_ file: LinkedCircuit, _ register: Register, by kinds: [CircuitEvent.Kind]) -> Bool {
        guard let transition = file.transition, kinds.contains(transition.kind) else { return false }
        // A probe's verdict reaches the register a little later than the file, and the register's age does not include
        // its time on the way.
        let slack = self.published == nil ? Settings.unused : Settings.onTheWay
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

    /// The step while a hold is in force: no call can probe here, so the right to probe goes to other hosts.
    ///
    /// The circuit's state obeys even under the hold: when the hold ends, no call may probe without that right.
    mutating func stepWhileHeld(
        _ hold: LinkedCircuit.Hold, _ file: LinkedCircuit, _ register: Register, at now: Int64
    ) -> Step? {
        if let step = self.stepToExtend(file, register, at: now) { return step }
        if register.lease?.isOf(self.settings.host) == true { return .request(.yield(generation: register.generation)) }
        self.probing = nil
        if let left = hold.left { self.wake(at: now.addingSaturating(left), now: now) }
        return nil
    }

    /// Records that the file obeys the register.
    mutating func setPublished(_ register: Register, _ file: LinkedCircuit, draw: Double) {
        let isClosedByProbe = register.state == .open && file.state == .closed
        self.published = Published(
            generation: register.generation, epoch: isClosedByProbe ? nil : file.epoch, state: register.state)
        self.probing = nil
        self.freeSince = nil
        self.jitter = Int64(draw * Settings.jitter)
        self.refusals = file.refusals
        self.wasUnused = false
    }
}

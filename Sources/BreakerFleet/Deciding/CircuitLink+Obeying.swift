import BreakerStore

/// What goes up from people on this host, and what the file must obey.
extension CircuitLink {
    // MARK: - Operators

    /// What a person did here and the server has not been told.
    ///
    /// Only the newest of its kind counts, and a hold only as it is now.
    mutating func operation(_ file: LinkedCircuit) -> Request? {
        for (index, event) in file.operations.enumerated() where !self.pushed.contains(event.key) {
            let later = file.operations[(index + 1)...].map(\.kind)
            let operation: Request.Operation? =
                switch event.kind {
                case .reset where !later.contains(.reset): .reset
                case .probeAllowed where !later.contains(.probeAllowed) && event.age <= Self.longestProbe: .probe
                case .held where !later.contains(where: Self.endsHold): file.hold.map { .hold($0.state, left: $0.left) }
                case .released where !later.contains(where: Self.endsHold): .release
                default: nil
                }
            if let operation {
                return .operate(operation, key: event.key, age: event.age, by: event.by, reason: event.reason)
            }
            self.pushed.insert(event.key)
        }
        return nil
    }

    /// A probe that was allowed longer ago is over.
    private static let longestProbe: Int64 = 3_600_000_000

    private static func endsHold(_ kind: CircuitEvent.Kind) -> Bool { [.held, .released, .reset].contains(kind) }

    // MARK: - Obeying

    /// What the file must be told of a register of a new generation; nil when nothing is left to tell.
    mutating func obedience(_ file: LinkedCircuit, _ register: Register) -> Step? {
        if self.obeyed != register.generation {
            if let order = self.order(beneath: file, register) {
                return .order(order, by: LinkOrder.fleet(for: register.by), reason: register.reason)
            }
            self.obeyed = register.generation
        }
        switch (register.hold, file.hold) {
        case (let hold?, let own) where !hold.isTheSame(as: own):
            return .order(.hold(hold.state, for: hold.left), by: LinkOrder.fleet(for: hold.by), reason: hold.reason)
        case (nil, let own?) where LinkOrder.isOfFleet(own.by) || file.operations.contains { $0.kind == .held }:
            // A hold that no event tells of was never offered to the others, and stays this host's own.
            // A reset ends a hold, too.
            let word = register.release ?? (register.isReset ? .init(by: register.by, reason: register.reason) : nil)
            return .order(.release, by: LinkOrder.fleet(for: word?.by), reason: word?.reason)
        default: return nil
        }
    }

    /// What the state beneath a hold must become.
    private func order(beneath file: LinkedCircuit, _ register: Register) -> LinkOrder? {
        switch (register.state, file.state) {
        case (_, .unknown): return nil
        case (.open, .closed) where self.hasClosedByItself(file, since: register): return nil
        // This host may probe: an operator has said so, or another link of this file was elected and is dead.
        case (.open, .open(left: 0)) where register.lease?.host == self.settings.host: return nil
        case (.open, .halfOpen) where register.lease?.host == self.settings.host: return nil
        case (.open, .open) where file.isOwnTrip || self.hasHeard(file, of: register, [.tripped, .reopened]):
            return self.extension(file, register)
        case (.open, _): return .open(for: self.target(file, register), trips: register.trips)
        case (.closed, .closed) where !register.isReset: return nil
        case (.closed, .closed) where file.failures.allSatisfy { $0.age < register.age }: return nil
        case (.closed, _) where register.isReset && !self.hasTripped(file, since: register):
            return self.hasHeard(file, of: register, [.reset]) ? nil : .reset
        case (.closed, .open(let left)) where file.isOwnTrip:
            // The fleet kept this circuit open for longer than its own time. What it found out by itself stays, but the
            // others have found the service well.
            return self.told?.state == .open && left > 0 && file.hold == nil ? .probe : nil
        case (.closed, .halfOpen) where file.isOwnTrip: return nil
        case (.closed, _): return .close
        }
    }

    /// Whether this host found out by itself, since the register was reset, that the service is down: the reset was
    /// meant for what was before.
    private func hasTripped(_ file: LinkedCircuit, since register: Register) -> Bool {
        file.state != .closed && file.isOwnTrip && file.trip.map { $0.age < register.age } ?? false
    }

    /// Whether the file's newest transition is one of these, and not older than the register's.
    ///
    /// Then another link of this file has told it; or nothing but a hold has changed.
    private func hasHeard(_ file: LinkedCircuit, of register: Register, _ kinds: [CircuitEvent.Kind]) -> Bool {
        guard let transition = file.transition, kinds.contains(transition.kind) else { return false }
        // An own probe's verdict comes to the register a little later than to the file, and a register is older by as
        // long as it was on its way.
        let slack = self.told == nil ? Settings.unused : Settings.onTheWay
        return transition.age <= register.age.addingSaturating(slack)
    }

    /// Whether the file was closed by a probe of this host since the register opened.
    func hasClosedByItself(_ file: LinkedCircuit, since register: Register) -> Bool {
        self.wasClosedByProbe(file) && file.transition.map { $0.age < register.age } ?? false
    }

    func wasClosedByProbe(_ file: LinkedCircuit) -> Bool {
        guard file.state == .closed, let transition = file.transition else { return false }
        return transition.kind == .closed && !LinkOrder.isOfFleet(transition.by)
    }

    /// The file is held and the register is not: the file's hold ends a little later, or is this host's own.
    ///
    /// No call can probe here, so the right to do that is another's.
    mutating func whileHeldAlone(
        _ hold: LinkedCircuit.Hold, _ file: LinkedCircuit, _ register: Register, at now: Int64
    ) -> Step? {
        if let step = self.prolongation(file, register, at: now) { return step }
        if register.lease?.host == self.settings.host { return .request(.yield(generation: register.generation)) }
        self.probing = nil
        if let left = hold.left { self.wake(at: now.addingSaturating(left), now: now) }
        return nil
    }

    /// The file obeys the register.
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

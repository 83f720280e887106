import BreakerStore

/// The right to probe, from the request for it to its return.
extension CircuitLink {
    /// The step for a half-open circuit without the right to probe.
    ///
    /// The host asks for the right if it is free; else no further call may probe here.
    mutating func stepWithoutRight(_ file: LinkedCircuit, _ register: Register, at now: Int64) -> Step? {
        guard register.left == 0, register.lease == nil, !file.isObserving else {
            return self.stepToStopProbes(file, register)
        }
        guard now >= self.quietUntil else {
            self.wake(at: self.quietUntil, now: now)
            return nil
        }
        return .request(.elect(generation: register.generation))
    }

    /// The order that stops further probes of a half-open circuit; the outcome of a running probe is then late.
    func stepToStopProbes(_ file: LinkedCircuit, _ register: Register) -> Step {
        .order(.open(for: self.target(file, register), trips: register.trips), by: LinkOrder.fleet, reason: nil)
    }

    /// The request for the right to probe an open circuit, once it is due and free.
    ///
    /// Hosts with demand, that is, with refused calls, ask first.
    mutating func requestToElect(_ file: LinkedCircuit, _ register: Register, at now: Int64) -> Request? {
        guard case .open(let fileLeft) = file.state, !file.isObserving else { return nil }
        if let lease = register.lease, !lease.isOf(self.settings.host) {
            self.freeSince = nil
            self.wake(at: now.addingSaturating(lease.left), now: now)
            return nil
        }
        // This host has an end of its own that is later, as one that a provider has declared: other hosts may probe.
        guard fileLeft <= register.left.addingSaturating(self.settings.guardTime) else {
            self.wake(at: now.addingSaturating(fileLeft - self.settings.guardTime), now: now)
            return nil
        }
        let freeSince = self.freeSince ?? now.addingSaturating(register.left)
        self.freeSince = freeSince
        let hasDemand = file.refusals > self.refusals
        guard hasDemand || !self.wasUnused else { return nil }
        let courtesy = hasDemand ? 0 : Settings.courtesy
        let time = max(self.quietUntil, freeSince.addingSaturating(self.jitter + courtesy))
        guard register.left == 0, now >= time else {
            self.wake(at: time, now: now)
            return nil
        }
        return .elect(generation: register.generation)
    }

    /// The step while this host has the right to probe; the circuit in its file probes as without a link.
    mutating func stepWhileProbing(
        _ file: LinkedCircuit, _ register: Register, _ probing: Probing, at now: Int64
    ) -> Step? {
        guard let lease = register.lease, lease.isOf(self.settings.host) else {
            self.probing = nil
            return file.state == .halfOpen
                ? self.stepWithoutRight(file, register, at: now) : self.stepToExtend(file, register, at: now)
        }
        let generation = register.generation
        self.wake(at: now.addingSaturating(lease.left - self.settings.lease / 2), now: now)
        let renewal = lease.left < self.settings.lease / 2 ? Step.request(.renew(generation: generation)) : nil
        switch file.state {
        case .closed where self.wasClosedByProbe(file):
            return .request(.verdict(generation: generation, .closed, isElected: true))
        case .closed, .unknown:
            // The circuit belongs to another file; the right to probe expires with its lease.
            self.probing = nil
            self.published = nil
            self.obeyed = nil
            return nil
        case .halfOpen:
            guard file.liveProbes == 0 else {
                self.probing?.idleSince = nil
                return renewal
            }
            // The probe ended without a verdict, and no other call has probed since.
            let idleSince = probing.idleSince ?? now
            self.probing?.idleSince = idleSince
            guard now.subtractingSaturating(idleSince) > Settings.unused else {
                self.wake(at: idleSince.addingSaturating(Settings.unused + 1), now: now)
                return renewal
            }
            return self.stepToStopProbes(file, register)
        case .open(let left):
            guard let epoch = probing.epoch else {
                return .order(.probe, by: LinkOrder.fleet, reason: nil)
            }
            if file.epoch != epoch {
                return .request(.verdict(generation: generation, .open(for: left), isElected: true))
            }
            guard now.subtractingSaturating(probing.since) > Settings.unused else {
                self.wake(at: probing.since.addingSaturating(Settings.unused + 1), now: now)
                return renewal
            }
            // The file must stop admitting calls before another host may probe.
            if left == 0 {
                return .order(.extend(for: self.target(file, register)), by: LinkOrder.fleet, reason: nil)
            }
            return .request(.yield(generation: generation))
        }
    }
}

import BreakerStore

/// Applies the outcomes of a link's steps.
extension CircuitLink {
    /// Applies the outcome of an order.
    ///
    /// - Parameter epoch: the file's epoch after the order; nil if the file had changed before it.
    mutating func done(_ order: LinkOrder, epoch: Epoch?, at now: Int64) {
        guard let epoch else { return }
        let isNew = self.published?.generation != self.register?.generation
        switch order {
        case .obey, .stamp: break
        case _ where isNew: self.obeyed = self.register?.generation
        case .close, .extend: break
        case .open:
            // The circuit's probes were stopped; the next step returns the right to probe.
            self.published?.epoch = epoch
            if self.probing != nil {
                self.probing = Probing(since: now.subtractingSaturating(Settings.unused + 1), epoch: epoch)
            }
        case .probe:
            self.probing = Probing(since: now, epoch: epoch)
            self.published?.epoch = epoch
        }
    }

    /// Makes the link ask for no trip and no right to probe for a while, so that another host gets that right.
    ///
    /// Called when the file could not be written, or the server could not carry out a request.
    mutating func failed(at now: Int64) {
        self.quietUntil = now.addingSaturating(self.settings.lease + Settings.unused)
    }

    /// Records that this host has the right to probe for a lease from `now`.
    private mutating func setOwnLease(from now: Int64) {
        // `left` counts from the time when the register was read.
        let passed = max(0, now.subtractingSaturating(self.readAt))
        self.register?.lease = Register.Lease(
            host: self.settings.host, left: self.settings.lease.addingSaturating(passed))
    }

    /// Records that the register has this command now.
    private mutating func setCommand(_ command: OperatorCommand, at now: Int64) {
        var command = command
        // The age counts from the time when the register was read.
        command.age = command.age.subtractingSaturating(now.subtractingSaturating(self.readAt))
        self.register?.commands.removeAll { $0.kind == command.kind }
        self.register?.damagedCommands.removeAll { $0 == command.kind }
        self.register?.commands.append(command)
    }

    /// Applies the outcome of a request.
    mutating func done(_ request: Request, _ outcome: Outcome, _ file: LinkedCircuit, at now: Int64) {
        if case .send(let command) = request, self.register?.damagedCommands.contains(command.kind) == true {
            self.replacesFrom = now.addingSaturating(Settings.replacing)
        }
        switch (request, outcome) {
        case (.elect, .accepted):
            self.setOwnLease(from: now)
            // A half-open circuit probes already: its next change of state is the verdict of that probe.
            self.probing = Probing(since: now, epoch: file.state == .halfOpen ? Epoch(.min) : nil)
        case (.renew, .accepted):
            self.setOwnLease(from: now)
        case (.yield, _):
            self.probing = nil
            self.wasUnused = true
            self.refusals = file.refusals
            self.needsRead = true
        case (.verdict(_, let verdict, _), .accepted(let generation)):
            self.probing = nil
            self.published = Published(
                generation: generation, epoch: file.epoch, state: verdict == .closed ? .closed : .open)
            self.obeyed = generation
            self.needsRead = true
        case (.verdict, .refused):
            self.probing = nil
            self.needsRead = true
            self.quietUntil = now.addingSaturating(Settings.quiet)
        case (.send(let command), .accepted(self.register?.generation)) where command.kind == .hold:
            // Nothing else has changed, so the link need not read the register after each of many commands.
            self.probing = nil
            self.register?.lease = nil
            self.setCommand(command, at: now)
        case (.send(let command), _):
            // If it was refused, the server has a newer command.
            self.needsRead = true
            if command.kind == .probe { self.publishedProbe = command.number }
            if case .accepted = outcome { self.probing = nil }
        case (.trip, .refused), (.elect, .refused), (.renew, .refused):
            self.needsRead = true
            self.quietUntil = now.addingSaturating(Settings.quiet)
        case (.offer, _), (.trip, .accepted):
            self.needsRead = true
        }
    }
}

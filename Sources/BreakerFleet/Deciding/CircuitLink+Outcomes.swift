import BreakerStore

/// How a link takes the outcomes of its steps.
extension CircuitLink {
    /// Takes the outcome of an order.
    ///
    /// - Parameter epoch: the file's epoch after the order; nil if the file had moved on before.
    mutating func done(_ order: LinkOrder, epoch: Int64?, at now: Int64) {
        guard let epoch else { return }
        let isNew = self.told?.generation != self.register?.generation
        switch order {
        case .obey, .stamp: break
        case _ where isNew: self.obeyed = self.register?.generation
        case .close, .extend: break
        case .open:
            // The circuit's probes were stopped; the right to probe is given back next.
            self.told?.epoch = epoch
            if self.probing != nil {
                self.probing = Probing(since: now.subtractingSaturating(Settings.unused + 1), epoch: epoch)
            }
        case .probe:
            self.probing = Probing(since: now, epoch: epoch)
            self.told?.epoch = epoch
        }
    }

    /// Asks for nothing that seems due for a while, so that another host gets the right to probe.
    ///
    /// For a file that can't be written, or a server that can't carry out a request.
    mutating func failed(at now: Int64) {
        self.quietUntil = now.addingSaturating(self.settings.lease + Settings.unused)
    }

    /// Notes that this host has the right to probe for a lease from `now`; `left` counts from the last reading.
    private mutating func hasRight(since now: Int64) {
        let passed = max(0, now.subtractingSaturating(self.readAt))
        self.register?.lease = Register.Lease(
            host: self.settings.host, left: self.settings.lease.addingSaturating(passed))
    }

    /// Notes that the register has this word now; its age counts from the last reading.
    private mutating func note(_ word: LinkWord, at now: Int64) {
        var word = word
        word.age = word.age.subtractingSaturating(now.subtractingSaturating(self.readAt))
        self.register?.words.removeAll { $0.kind == word.kind }
        self.register?.damagedWords.removeAll { $0 == word.kind }
        self.register?.words.append(word)
    }

    /// Takes the outcome of a request.
    mutating func done(_ request: Request, _ outcome: Outcome, _ file: LinkedCircuit, at now: Int64) {
        if case .tell(let word) = request, self.register?.damagedWords.contains(word.kind) == true {
            self.replacesFrom = now.addingSaturating(Settings.replacing)
        }
        switch (request, outcome) {
        case (.elect, .accepted):
            self.hasRight(since: now)
            // A half-open circuit already probes: its next change of state is this probe's verdict.
            self.probing = Probing(since: now, epoch: file.state == .halfOpen ? .min : nil)
        case (.renew, .accepted):
            self.hasRight(since: now)
        case (.yield, _):
            self.probing = nil
            self.wasUnused = true
            self.refusals = file.refusals
            self.needsRead = true
        case (.verdict(_, let verdict, _), .accepted(let generation)):
            self.probing = nil
            self.told = Told(
                generation: generation, epoch: file.epoch, state: verdict == .closed ? .closed : .open)
            self.obeyed = generation
            self.needsRead = true
        case (.verdict, .refused):
            self.probing = nil
            self.needsRead = true
            self.quietUntil = now.addingSaturating(Settings.quiet)
        case (.tell(let word), .accepted(self.register?.generation)) where word.kind == .hold:
            // Nothing else has changed, so the link need not read the register after each of many words.
            self.probing = nil
            self.register?.lease = nil
            self.note(word, at: now)
        case (.tell(let word), _):
            // A refusal means that the server has something newer.
            self.needsRead = true
            if word.kind == .probe { self.toldProbe = word.number }
            if case .accepted = outcome { self.probing = nil }
        case (.trip, .refused), (.elect, .refused), (.renew, .refused):
            self.needsRead = true
            self.quietUntil = now.addingSaturating(Settings.quiet)
        case (.offer, _), (.trip, .accepted):
            self.needsRead = true
        }
    }
}

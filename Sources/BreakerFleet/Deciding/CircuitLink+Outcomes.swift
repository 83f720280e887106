import BreakerStore

/// What a link knows after its steps were taken.
extension CircuitLink {
    /// An order was carried out, or not: `epoch` is the file's epoch after the order, nil if it had moved on before.
    mutating func done(_ order: LinkOrder, epoch: Int64?, at now: Int64) {
        guard let epoch else { return }
        let isNew = self.told?.generation != self.register?.generation
        switch order {
        case .obey, .stamp: break
        case _ where isNew: self.obeyed = self.register?.generation
        case .close, .extend: break
        case .open:
            // The gate of a half-open file was closed; the right to probe is given back next.
            self.told?.epoch = epoch
            if self.probing != nil {
                self.probing = Probing(since: now.subtractingSaturating(Settings.unused + 1), epoch: epoch)
            }
        case .probe:
            self.probing = Probing(since: now, epoch: epoch)
            self.told?.epoch = epoch
        }
    }

    /// The file can't be written to, or the server can't carry out a request: this host asks for nothing for a while,
    /// so that another gets the right to probe.
    mutating func failed(at now: Int64) {
        self.quietUntil = now.addingSaturating(self.settings.lease + Settings.unused)
    }

    /// The right to probe is this host's for a lease from now on; what is left of it is kept as of the last reading.
    private mutating func hasRight(since now: Int64) {
        let passed = max(0, now.subtractingSaturating(self.readAt))
        self.register?.lease = Register.Lease(
            host: self.settings.host, left: self.settings.lease.addingSaturating(passed))
    }

    /// The register has this word now; its age is kept as of the last reading.
    private mutating func note(_ word: LinkWord, at now: Int64) {
        var word = word
        word.age = word.age.subtractingSaturating(now.subtractingSaturating(self.readAt))
        self.register?.words.removeAll { $0.kind == word.kind }
        self.register?.words.append(word)
    }

    /// A request was answered.
    mutating func done(_ request: Request, _ outcome: Outcome, _ file: LinkedCircuit, at now: Int64) {
        switch (request, outcome) {
        case (.elect, .accepted):
            self.hasRight(since: now)
            // A half-open file probes already: whatever follows is this probe's verdict.
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
            // Nothing else has changed: the register need not be read for each of many words.
            self.probing = nil
            self.register?.lease = nil
            self.note(word, at: now)
        case (.tell(let word), _):
            // Refused: somebody has said something newer.
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

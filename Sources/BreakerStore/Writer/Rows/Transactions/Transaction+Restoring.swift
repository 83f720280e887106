/// Restores the state of this process's registered circuits from what it knows of a lost file.
extension Transaction {
    /// Restores the circuits, or writes to the history why not; returns the decision.
    func restore(_ lost: LostFile) throws(BreakerStoreError) -> Restoration.OfFile {
        let creation = try self.database.creation()
        let file = Restoration.NewFile(
            incarnation: self.incarnation, createdAt: (creation?.at).map(self.uptime),
            isAtItsPlace: creation?.pathHash == self.database.pathHash, replaced: creation?.replaced)
        let uptime = self.uptime(of: self.now)
        let decision = Restoration.decide(
            incarnation: lost.incarnation, lastInPlace: lost.lastInPlace, lacksOnlyLog: lost.lacksOnlyLog, file,
            at: uptime)
        switch decision {
        case .leave: break
        case .report: try self.report(lost, createdAt: file.createdAt ?? uptime, at: uptime)
        case .restore, .resume:
            let isFirst = decision == .restore && file.replaced == nil
            var holds = 0
            var opens = 0
            for (name, known) in lost.circuits {
                let restored = try self.restore(name.text, as: known, of: lost, resumes: decision == .resume)
                if restored.hold { holds += 1 }
                if restored.open { opens += 1 }
            }
            guard isFirst else { break }
            try self.database.run(
                "UPDATE predecessor SET incarnation = ?1 WHERE circuit = 0", .integer(lost.incarnation))
            let restoredCounts = [(holds, "hold"), (opens, "open state")].filter { $0.0 > 0 }.map(Self.count)
            let restored =
                restoredCounts.isEmpty
                ? "had nothing to restore" : "restored " + restoredCounts.joined(separator: " and ")
            try self.write(
                Transition(kind: .created, reason: "in place of \(lost.inWords); this worker \(restored)"), of: nil,
                by: nil)
        }
        return decision
    }

    private static func count(_ count: Int, _ what: String) -> String { "\(count) \(what)\(count == 1 ? "" : "s")" }

    /// Restores one circuit; returns whether it has its hold, and its open state, of the lost file now.
    ///
    /// Four values say what is known: `known` by this worker, with uptimes as stamps; `knownBefore`, the same for the
    /// decision; `here`, what the file at the path has; and in it `noted`, what a worker has recorded there before.
    ///
    /// - Parameter resumes: whether this is the same file without its log.
    private func restore(
        _ name: String, as known: LostFile.KnownCircuit, of lost: LostFile, resumes: Bool
    ) throws(BreakerStoreError) -> (hold: Bool, open: Bool) {
        guard let row = try self.row(of: name) else { return (false, false) }
        var circuit = known.unusual?.value.shifted(by: self.now.microseconds(since: self.uptimeNow))
        circuit?.rules = row.circuit.rules
        circuit?.clampFutureStamps(for: self.now)
        // An open state that was read some time before the loss may be over. Within the same file epochs decide that.
        let isOpenOrWas = circuit?.isOpenOrHalfOpen == true
        let isOpen = (known.readAt == nil || resumes) && isOpenOrWas
        let (hold, state) = (circuit?.hold(at: self.now), isOpen ? circuit : nil)
        let noted = try self.database.noted(of: row.id, uptime: self.uptime)
        // In the same file, what is known includes the commands from before the known epoch began. In another file any
        // command counts.
        let here = Restoration.Here(
            epoch: row.circuit.epoch, isNew: row.circuit.windowGeneration == .first,
            isCommanded: try self.database.isCommanded(
                row.id, name, since: resumes ? known.epoch.latestStart : nil),
            noted: noted)
        let origin = known.origin
        let knownBefore = Restoration.Known(
            incarnation: origin.incarnation, seenAt: origin.seenAt, epoch: resumes ? known.epoch : origin.epoch,
            isHeld: hold != nil, isOpen: isOpen, wasOpen: isOpenOrWas && !isOpen)
        let decision =
            resumes
            ? Restoration.decideResumed(knownBefore, in: here) : Restoration.decide(knownBefore, in: here)
        switch decision {
        case .leave: return (false, false)
        case .note: break
        case .restore, .restoreHold:
            let isHoldAlone = decision == .restoreHold
            let source = known.readAt.map { "as this worker had read it \(self.age(of: $0)) before" }
            let reason =
                Circuit.inWords(hold, isHoldAlone ? nil : state) + ", " + (source ?? "as \(lost.inWords) had it")
            _ = try self.change(name) { circuit, moment, _ in
                if !isHoldAlone { circuit.restored(state, at: moment.now) }
                circuit.restored(hold, from: row.circuit.word, reason: reason, at: moment.now)
            }
        }
        // If this worker does not know whether the circuit is still open, `restoreHold` leaves the open state that
        // another worker has restored: then the mark that it was restored stays, too.
        let isOpenRestored =
            isOpen && decision == .restore
            || knownBefore.wasOpen && noted?.isOpenRestored == true && decision == .restoreHold
        // Within the same file epochs suffice to tell what is later.
        if !resumes {
            let epochHere = try self.circuit(name)?.epoch ?? row.circuit.epoch
            try self.database.record(
                Restoration.Noted(
                    incarnation: origin.incarnation, seenAt: origin.seenAt, epoch: origin.epoch, epochHere: epochHere),
                of: row.id, hold: hold != nil, open: isOpenRestored, time: self.time)
        }
        return (hold != nil, isOpenRestored)
    }

    /// Writes to the history what this worker knew, because it is too late to restore it.
    private func report(_ lost: LostFile, createdAt: Uptime, at uptime: Uptime) throws(BreakerStoreError) {
        let known = lost.circuits.compactMap { name, known in
            known.unusual.map { (name.text, Circuit.inWords($0.value.hold, known.readAt == nil ? $0.value : nil)) }
        }.sorted { $0.0 < $1.0 }
        guard !known.isEmpty else { return }
        let list = known.prefix(10).map { "\($0.0.quoted) \($0.1)" }.joined(separator: "; ")
        let reason = "this worker came \(self.age(of: createdAt)) later, too late to restore: \(list)"
        try self.write(
            Transition(
                kind: .created,
                reason: StoredText.cut(reason + (known.count > 10 ? " and \(known.count - 10) more" : ""))),
            of: nil, by: nil)
    }

    /// The current uptime, as if it were a store time: `LostFile` has uptimes as its stamps.
    private var uptimeNow: StoreTime { StoreTime(microseconds: self.uptime(of: self.now).microseconds) }

    private func age(of uptime: Uptime) -> String {
        Duration.microseconds(max(0, self.uptime(of: self.now).microseconds(since: uptime))).readable
    }
}

extension LostFile {
    /// The file, for people; `StoreCreation.read` recognizes "a damaged file" in the event.
    fileprivate var inWords: String {
        if self.lacksOnlyLog { return "the log that was removed" }
        if let kept { return "a damaged file, which is kept as \(kept)" }
        return self.isDamaged ? "a damaged file" : "a removed file"
    }
}

extension Circuit {
    fileprivate var isOpenOrHalfOpen: Bool {
        switch self.state {
        case .open, .halfOpen: true
        case .closed, .unknown: false
        }
    }

    /// The hold and the state of a circuit, for people.
    fileprivate static func inWords(_ hold: Hold?, _ state: Circuit?) -> String {
        var texts: [String] = []
        if let hold {
            var text = "held \(hold.state.rawValue)"
            if let by = hold.by { text += " by \(by)" }
            if let reason = hold.reason { text += " (\(reason))" }
            texts.append(text)
        }
        if let state, state.isOpenOrHalfOpen { texts.append(state.state.word) }
        return texts.isEmpty ? "closed" : texts.joined(separator: ", ")
    }

    /// Restores the state from a lost file: open for the rest of its time, or closed.
    ///
    /// - Parameter lost: the circuit in the lost file, by the clock of this file; nil if closed.
    mutating func restored(_ lost: Circuit?, at now: StoreTime) {
        switch lost?.state {
        case .open(let until): self.state = .open(until: until)
        // The probers of the lost file have no slots here.
        case .halfOpen: self.state = .open(until: now)
        case nil, .closed, .unknown: self.state = .closed
        }
        self.since = lost?.since ?? now
        self.tripsInARow = lost?.tripsInARow ?? 0
        self.clearedAt = lost?.clearedAt ?? self.clearedAt
        self.trippedSince = lost?.trippedSince
        self.trip = lost?.trip
        if let lost { self.lastError = lost.lastError }
    }

    /// Restores the hold from a lost file, or its absence, in a new epoch; a half-open circuit loses its slots.
    mutating func restored(_ hold: Hold?, from: String, reason: String, at now: StoreTime) {
        let (trippedSince, trip) = (self.trippedSince, self.trip)
        if case .halfOpen = self.state { self.state = .open(until: now) }
        self.enter(self.state, since: self.since, epochAt: now)
        (self.trippedSince, self.trip) = (trippedSince, trip)
        self.hold = hold
        self.record(.stateRestored, from: from, reason: StoredText.cut(reason), subject: hold?.by)
    }
}

extension Database {
    /// Whether an operator or the fleet has given the circuit a command in this file after `since`.
    ///
    /// Commands of the fleet and of this library have a row in `command`; other programs write only the event.
    fileprivate func isCommanded(_ id: Int64, _ name: String, since: StoreTime?) throws(BreakerStoreError) -> Bool {
        try self.first(
            """
            SELECT EXISTS (SELECT 1 FROM command WHERE circuit = ?1 AND at > ?3)
            OR EXISTS (SELECT 1 FROM event WHERE circuit = ?2 AND at > ?3
            AND (kind IN ('reset', 'held', 'forgotten', 'probeAllowed')
            OR kind = 'released' AND (reason IS NULL OR reason NOT GLOB ?4)))
            """, .integer(id), .text(name), .integer(since?.microseconds ?? .min), .text(Circuit.endOfHold + "*")
        ) { $0.integer(0) } == 1
    }

    /// The file from which the circuit's state comes.
    ///
    /// This file (`own`), if a command was given in it; else the lost file from which the state was restored; else this
    /// file again, but so that any other worker's knowledge wins.
    func origin(
        of id: Int64, _ name: String, or own: LostFile.Origin, uptime: (StoreTime) -> Uptime
    ) throws(BreakerStoreError) -> LostFile.Origin {
        if try self.isCommanded(id, name, since: nil) { return own }
        guard let noted = try self.noted(of: id, uptime: uptime) else {
            return LostFile.Origin(incarnation: own.incarnation, seenAt: .min, epoch: own.epoch)
        }
        return LostFile.Origin(incarnation: noted.incarnation, seenAt: noted.seenAt, epoch: noted.epoch)
    }

    /// Records that the file was created just now, and at which path.
    func writeCreation(at now: StoreTime) throws(BreakerStoreError) {
        try self.run(
            """
            INSERT OR REPLACE INTO predecessor (circuit, restored_hold, restored_open, at, path_hash)
            VALUES (0, 0, 0, ?1, ?2)
            """, .integer(now.microseconds), .integer(self.pathHash))
    }

    /// The hash of the file's path, as the file records where it was created.
    fileprivate var pathHash: Int64 {
        var fingerprint = Fingerprint()
        fingerprint.add(bytesOf: self.connection.path)
        return Int64(bitPattern: fingerprint.value)
    }

    /// When and where the file was created, and which lost file it replaces; nil if an older release created it.
    func creation() throws(BreakerStoreError) -> (at: StoreTime, pathHash: Int64?, replaced: Int64?)? {
        try self.first("SELECT at, path_hash, incarnation FROM predecessor WHERE circuit = 0") {
            (StoreTime(microseconds: $0.integer(0)), $0.optionalInteger(1), $0.optionalInteger(2))
        }
    }

    /// What a worker has recorded about the circuit in a lost file.
    fileprivate func noted(
        of circuit: Int64, uptime: (StoreTime) -> Uptime
    ) throws(BreakerStoreError) -> Restoration.Noted? {
        try self.first(
            """
            SELECT incarnation, epoch, epoch_here, restored_hold, restored_open, at FROM predecessor
            WHERE circuit = ?1 AND incarnation IS NOT NULL
            """, .integer(circuit)
        ) {
            Restoration.Noted(
                incarnation: $0.integer(0), seenAt: uptime(StoreTime(microseconds: $0.integer(5))),
                epoch: $0.epoch(1), epochHere: $0.epoch(2), isHoldRestored: $0.integer(3) != 0,
                isOpenRestored: $0.integer(4) != 0)
        }
    }

    /// Writes the circuit's row of the table, in which a time is a store time.
    fileprivate func record(
        _ noted: Restoration.Noted, of circuit: Int64, hold: Bool, open: Bool, time: (Uptime) -> StoreTime
    ) throws(BreakerStoreError) {
        try self.run(
            """
            INSERT OR REPLACE INTO predecessor (circuit, incarnation, epoch, epoch_here, restored_hold, restored_open, at)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """, .integer(circuit), .integer(noted.incarnation), SQLValue(noted.epoch), SQLValue(noted.epochHere),
            .integer(hold ? 1 : 0), .integer(open ? 1 : 0), .integer(time(noted.seenAt).microseconds))
    }
}

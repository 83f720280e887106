import Synchronization

/// Remembers what this process knows of a lost file, and restores that in the file that has replaced it.
extension StoreCore {
    /// Remembers the rows of the open file, before it is closed and the file at the path is opened.
    ///
    /// The open connection still reads a file that was removed. If it can't read a row, the row that this process read
    /// last counts. The in-memory fallback decides by these rows from now on.
    func rememberFile() {
        // Otherwise an earlier try has remembered it.
        guard let opened = self.writer.opened else { return }
        opened.writer.rollback()
        var lost = LostFile(
            incarnation: opened.incarnation, lastInPlace: self.lastSeenInPlace,
            lacksOnlyLog: self.answers.lacksOnlyLog)
        // A young file may itself be in place of a lost one: then a state may come from that older file.
        let isYoung = self.isYoung(opened.writer)
        let offset = self.clock.offset
        for circuit in self.circuits.all {
            do throws(BreakerStoreError) {
                let row = try opened.writer.circuitRow(named: circuit.name)
                // The row may lack what only the lost log had: other processes, without that log, may have written the
                // row since. So the reading with the later epoch counts.
                if let last = circuit.lastRead, lost.lacksOnlyLog, last.isLater(than: row) {
                    lost.circuits[circuit.key] = last.known(in: lost, readAt: circuit.lastReadUptime)
                    continue
                }
                // A circuit that is not in the file has nothing to restore.
                guard let row else { continue }
                var current = row.resolved(with: circuit.registeredConfig)
                current.circuit.clampFutureStamps(for: self.clock.now)
                circuit.setLastReadUptime(self.clock.uptime)
                let news = circuit.update(SharedCircuit.LastRead(current, at: self.clock.now, self.clock), if: { true })
                if let config = news.newConfig { self.setRules(of: config) }
                var origin = LostFile.Origin(
                    incarnation: lost.incarnation, seenAt: lost.lastInPlace, epoch: row.circuit.epoch)
                if isYoung {
                    let found = try opened.writer.origin(
                        of: row.id, circuit.name, or: origin, uptime: self.clock.uptime)
                    // A circuit that the young file has only registered has no state to restore.
                    if found.seenAt == .min, row.circuit.windowGeneration == .first { continue }
                    origin = found
                }
                lost.circuits[circuit.key] = LostFile.KnownCircuit(row.circuit, offset: offset, origin)
            } catch {
                if error.code == .corrupt, !error.isRowDamage { lost.isDamaged = true }
                lost.circuits[circuit.key] = circuit.lastRead?.known(in: lost, readAt: circuit.lastReadUptime)
            }
        }
        self.lost.withLock { $0 = lost }
    }

    /// Opens the file at the path, and joins it as a worker.
    ///
    /// - Parameter isSuspect: as in `Writer.open`.
    func openFile(isSuspect: Bool) throws(BreakerStoreError) -> Opened {
        // Read before the opening, which last checks the files: a file that is created later than this is not the open
        // one.
        let uptime = self.clock.uptime
        let opened = try self.writer.open(isSuspect: isSuspect, onQuarantine: self.appendQuarantine)
        self.lastInPlace.store(uptime.microseconds, ordering: .relaxed)
        self.keys.setWorker(opened.worker)
        self.degradedMark.joined(opened.lock, as: opened.worker.id)
        // Until the circuits are restored this worker is degraded, and this lock file must show it, too.
        self.showLoss()
        return opened
    }

    /// Checks that all paths lead to the open files, and records the time if they do.
    func checkFilesInPlace() -> Bool {
        // Read before the check: a file that is created later than this is not the open one.
        let uptime = self.clock.uptime
        guard self.writer.isInPlace else { return false }
        self.lastInPlace.store(uptime.microseconds, ordering: .relaxed)
        return true
    }

    private var lastSeenInPlace: Uptime { Uptime(microseconds: self.lastInPlace.load(ordering: .relaxed)) }

    /// Whether the file was less than a minute old when this process last saw it in its place.
    private func isYoung(_ database: Database) -> Bool {
        let creation = try? database.creation()
        guard let creation = creation ?? nil else { return false }
        let seen = self.clock.time(of: self.lastSeenInPlace)
        return seen.microseconds(since: creation.at) <= Restoration.time
    }

    /// Records, for the history and for the restoration, that a damaged file was quarantined.
    func appendQuarantine(_ name: String) {
        self.outbox.appendQuarantine(name)
        self.lost.withLock { $0?.kept = Outbox.fileName(name) }
    }

    /// Registers this process's circuits in a file that was opened, and restores their state of the lost file.
    ///
    /// Called before any call of this process reads the file.
    ///
    /// - Parameter wasInPlace: whether the path led to the old database just before that was closed.
    /// - Returns: whether this is the database that was open before.
    func restoreCircuits(in opened: Opened, wasInPlace: Bool) throws(BreakerStoreError) -> Reopened {
        do throws(BreakerStoreError) {
            let lost = self.lost.withLock { $0 }
            // A young database that has lost its log is empty, and has got another incarnation.
            let wasInPlace = wasInPlace && lost.map { $0.incarnation == opened.incarnation } ?? true
            let isSame = try self.answers.isSameDatabase(opened, wasInPlace: wasInPlace)
            var reopened: Reopened = isSame ? .same : .other
            if let lost, isSame, lost.lacksOnlyLog {
                // A circuit that was registered last may have been in the log alone. A circuit that was forgotten last
                // must not come back.
                let current = self.circuits.inForce.filter { lost.circuits[$0.key] != nil }
                try self.writer.register(current, isSameDatabase: false, restoring: lost)
            } else if !isSame {
                switch try self.writer.register(self.circuits.inForce, isSameDatabase: false, restoring: lost) {
                // The file has been created since the loss: readers of events begin with its first event.
                case .restore, .report: reopened = .createdSince
                case .resume, .leave, nil: break
                }
                self.outbox.fileReplaced()
            }
            return reopened
        } catch {
            self.writer.closeConnections()
            throw error
        }
    }
}

extension SharedCircuit.LastRead {
    /// Whether this reading is newer than the row.
    ///
    /// Without a row only a hold or an open state matters: other circuits come back by their next use.
    fileprivate func isLater(than row: CircuitRow?) -> Bool {
        guard let row else { return self.isUnusual }
        return self.incarnation == row.incarnation && self.epoch > row.circuit.epoch
    }

    /// What is known of a circuit whose row can no longer be read: its hold is certain, its open state is not.
    ///
    /// Without a hold any other worker's knowledge wins (`LostFile.Origin.seenAt`).
    fileprivate func known(in lost: LostFile, readAt uptime: Uptime) -> LostFile.KnownCircuit {
        let seenAt = self.hold == nil ? .min : lost.lastInPlace
        return LostFile.KnownCircuit(
            self.circuit, offset: self.offset,
            LostFile.Origin(incarnation: lost.incarnation, seenAt: seenAt, epoch: self.epoch), readAt: uptime)
    }
}

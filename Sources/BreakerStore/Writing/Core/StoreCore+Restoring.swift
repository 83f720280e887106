import Synchronization

/// Keeps what this process knows of a file that is lost, and gives it to the file in its place.
extension StoreCore {
    /// Notes what the file says that is open, before it is closed and the file at the path is opened.
    ///
    /// The connection reads a file that was removed as if it were still there. Where it can't read, what this process
    /// has last read counts. Memory guards by these rows from now on.
    func rememberFile() {
        // Otherwise an earlier try has noted it.
        guard let opened = self.writer.opened else { return }
        opened.writer.rollback()
        var lost = LostFile(
            incarnation: opened.incarnation, lastInPlace: self.lastInPlace.load(ordering: .relaxed),
            lacksOnlyLog: self.answers.hasOnlyLostLog)
        let isYoung = self.isYoung(opened.writer)
        let offset = self.clock.offset
        for circuit in self.circuits.all {
            do throws(BreakerStoreError) {
                let row = try opened.writer.circuitRow(named: circuit.name)
                // Without the log others may have written into the database since, beneath what the log said.
                if let last = circuit.lastRead, lost.lacksOnlyLog, last.isLater(than: row) {
                    lost.circuits[circuit.key] = last.known(in: lost, readAt: circuit.lastLook)
                    continue
                }
                // A circuit that is not in the file has nothing to be restored.
                guard let row else { continue }
                var present = row.guarded(by: circuit.registeredConfig)
                present.circuit.takeStampsAhead(for: self.clock.now)
                circuit.noteLook(at: self.clock.uptime)
                let news = circuit.know(SharedCircuit.LastRead(present, at: self.clock.now, self.clock)) { true }
                if let config = news.newConfig { self.noteRules(of: config) }
                var origin = LostFile.Origin(
                    incarnation: lost.incarnation, seenAt: lost.lastInPlace, epoch: row.circuit.epoch)
                if isYoung {
                    let found = try opened.writer.origin(
                        of: row.id, circuit.name, or: origin, uptime: self.clock.uptime)
                    if found.seenAt == .min, row.circuit.windowGeneration == 1 { continue }
                    origin = found
                }
                lost.circuits[circuit.key] = LostFile.KnownCircuit(row.circuit, offset: offset, origin)
            } catch {
                if error.code == .corrupt, !error.isOfUnusableRow { lost.isDamaged = true }
                lost.circuits[circuit.key] = circuit.lastRead?.known(in: lost, readAt: circuit.lastLook)
            }
        }
        self.lost.withLock { $0 = lost }
    }

    /// Opens the file at the path.
    ///
    /// - Parameter isSuspect: as in `Writer.open`.
    func openFile(isSuspect: Bool) throws(BreakerStoreError) -> Opened {
        // Read before the opening, which ends with a look at the files: a file that is created later is not the open
        // one.
        let uptime = self.clock.uptime
        let opened = try self.writer.open(isSuspect: isSuspect, onQuarantine: self.noteQuarantine)
        self.lastInPlace.store(uptime, ordering: .relaxed)
        self.keys.take(opened.worker)
        self.degradedMark.joined(opened.lock, as: opened.worker.id)
        // Until the circuits are restored this worker guards in memory, whichever lock file shows it.
        self.showLoss()
        return opened
    }

    /// Whether all paths lead to the open files; notes the time if so.
    func sawFilesInPlace() -> Bool {
        // Read before the look: a file that is created later than this is not the open one.
        let uptime = self.clock.uptime
        guard self.writer.isInPlace else { return false }
        self.lastInPlace.store(uptime, ordering: .relaxed)
        return true
    }

    /// Whether the file was less than a minute old when this process last saw it in its place.
    private func isYoung(_ database: Database) -> Bool {
        let creation = try? database.creation()
        guard let creation = creation ?? nil else { return false }
        let seen = self.clock.time(of: self.lastInPlace.load(ordering: .relaxed))
        return seen.microseconds(since: creation.at) <= Restoration.time
    }

    /// Notes that a damaged file was moved aside.
    func noteQuarantine(_ name: String) {
        self.outbox.noteQuarantine(name)
        self.lost.withLock { $0?.kept = Outbox.fileName(name) }
    }

    /// Registers this process's circuits in a file that was opened, and gives them what a lost file said, before any
    /// call of this process reads the file; returns how it compares with the database that was open before.
    ///
    /// - Parameter maybeSame: whether the path led to the open database just before that was closed.
    func restoreCircuits(in opened: Opened, maybeSame: Bool) throws(BreakerStoreError) -> Reopened {
        do throws(BreakerStoreError) {
            let lost = self.lost.withLock { $0 }
            // Without its log a young database is empty, and has become another one.
            let maybeSame = maybeSame && lost.map { $0.incarnation == opened.incarnation } ?? true
            let isSame = try self.answers.isSameDatabase(opened, maybeSame: maybeSame)
            var reopened: Reopened = isSame ? .same : .other
            if let lost, isSame, lost.lacksOnlyLog {
                // A circuit that was registered just before may have been in the log alone. A circuit that was
                // forgotten just before must not come back.
                let present = self.circuits.inForce.filter { lost.circuits[$0.key] != nil }
                try self.writer.register(present, isSameDatabase: false, restoring: lost)
            } else if !isSame {
                switch try self.writer.register(self.circuits.inForce, isSameDatabase: false, restoring: lost) {
                case .restore, .report: reopened = .createdSince
                case .resume, .leave, nil: break
                }
                self.outbox.fileReplaced()
            }
            return reopened
        } catch {
            self.writer.shut()
            throw error
        }
    }
}

extension SharedCircuit.LastRead {
    /// Whether this reading says something that the row does not say any more.
    ///
    /// Without a row, that is a hold or an open state: other circuits come back by their next use.
    fileprivate func isLater(than row: CircuitRow?) -> Bool {
        guard let row else { return self.isUnusual }
        return self.incarnation == row.incarnation && self.epoch > row.circuit.epoch
    }

    /// What is known of a circuit whose row can't be read any more: whether it was held, but not whether it is open.
    fileprivate func known(in lost: LostFile, readAt uptime: Int64) -> LostFile.KnownCircuit {
        let seenAt = self.hold == nil ? .min : lost.lastInPlace
        return LostFile.KnownCircuit(
            self.circuit, offset: self.offset,
            LostFile.Origin(incarnation: lost.incarnation, seenAt: seenAt, epoch: self.epoch), readAt: uptime)
    }
}

/// Lets calls through, or refuses them.
extension CircuitBreaker {
    /// Lets one call through, or refuses it.
    ///
    /// Commits on the calling thread if a probe is due.
    func letThrough() throws(CircuitOpenError) -> Admitted {
        if let admitted = try self.lookUp() { return admitted }
        let work = self.claimWork()
        let outcome: Circuit.Admission
        do throws(BreakerStoreError) {
            outcome = try self.core.commit(until: self.store.deadline, unclaimed: self.giveBack, work)
        } catch {
            return try self.letThroughByMemory()
        }
        return try self.take(outcome)
    }

    /// Lets one call through, or refuses it.
    ///
    /// Suspends while a probe is claimed.
    func letThrough() async throws(CircuitOpenError) -> Admitted {
        if let admitted = try self.lookUp() { return admitted }
        let work = self.claimWork()
        let outcome: Circuit.Admission
        do throws(BreakerStoreError) {
            outcome = try await self.core.commit(
                until: self.store.deadline, unclaimed: self.giveBack, work)
        } catch {
            return try self.letThroughByMemory()
        }
        return try self.take(outcome)
    }

    /// Leave for a call of a closed circuit whose good ends are only counted; nil if a kept answer is not enough.
    ///
    /// Throws a refusal that is kept. To let a call through it makes no system call, takes no lock and allocates
    /// nothing; it reads the clock only if somebody asks how long calls take.
    @usableFromInline
    func freePass() throws(CircuitOpenError) -> FreePass? {
        guard self.isPlain else { return nil }
        let answer = self.circuit.slot.ask(self.store.gate)
        switch answer.verdict {
        case .proceed:
            return FreePass(epoch: answer.epoch, began: self.measuresDurations ? self.uptime : FreePass.notMeasured)
        case .proceedMeasured: return FreePass(epoch: answer.epoch, began: self.uptime)
        case .open: try self.refuse(.open, until: answer.until)
        case .heldOpen: try self.refuse(.held, until: answer.until)
        case .none, .proceedAndReportSuccess, .proceedAndForgetFailures, .heldClosed, .observe: break
        }
        return nil
    }

    /// What the kept answer says, or else the file; nil if a commit must decide.
    private func lookUp() throws(CircuitOpenError) -> Admitted? {
        let answer = self.circuit.slot.ask(self.store.gate)
        switch answer.verdict {
        case .proceed, .proceedMeasured:
            return .counted(epoch: answer.epoch, reportsSuccess: false)
        case .proceedAndReportSuccess, .proceedAndForgetFailures:
            return .counted(epoch: answer.epoch, reportsSuccess: true)
        case .heldClosed:
            if self.core.clock.uptime < answer.until { return .uncounted }
        case .open:
            try self.refuse(.open, until: answer.until)
        case .heldOpen:
            try self.refuse(.held, until: answer.until)
        case .observe:
            if self.core.clock.uptime < answer.until { return self.countObserved() }
        case .none:
            break
        }
        return try self.lookInFile()
    }

    private func lookInFile() throws(CircuitOpenError) -> Admitted? {
        guard !self.store.gate.isForked, !self.store.isClosed else { return try self.letThroughByMemory() }
        let look: FreshAnswer?
        do throws(BreakerStoreError) {
            look = try self.core.look(self.asker)
        } catch {
            // The commit heals a row that can't be read.
            if error.isOfUnusableRow { return nil }
            self.core.readFailed(error)
            return try self.letThroughByMemory()
        }
        // Somebody has deleted the circuit from the file: the commit registers it again.
        guard let look else { return nil }
        switch look.answer {
        case .refuse(let cause, let until):
            throw self.makeRefusal(cause, until.map { $0.microseconds(since: look.now) })
        case .proceed:
            if self.core.isDegraded { return try self.letThroughByMemory() }
            return .counted(epoch: look.epoch, reportsSuccess: look.reportsSuccess)
        case .uncounted:
            return .uncounted
        case .observe:
            return self.countObserved()
        case .claim:
            return nil
        }
    }

    /// Counts a call that an enforcing circuit would refuse, and lets it through.
    private func countObserved() -> Admitted {
        self.circuit.countRefusal()
        return .observed
    }

    private func take(_ outcome: Circuit.Admission) throws(CircuitOpenError) -> Admitted {
        switch outcome {
        case .proceed(let epoch):
            // The commit may have registered the circuit anew: its counts must begin before this call ends.
            _ = try? self.core.look(self.asker)
            return .counted(epoch: epoch, reportsSuccess: true)
        case .uncounted: return .uncounted
        case .observe: return self.countObserved()
        case .probe(let token, let epoch): return .probe(token: token, epoch: epoch)
        case .refuse(let cause, let until):
            throw self.makeRefusal(cause, until.map { $0.microseconds(since: self.core.clock.now) })
        }
    }

    private func claimWork() -> StoreCore.Work<Circuit.Admission> {
        let name = self.name
        let config = self.circuit.registeredConfig
        let token = self.core.newToken()
        return { (transaction) throws(BreakerStoreError) in
            try transaction.change(name, orRegister: config) { circuit, moment, _ in
                circuit.callArrived(
                    at: moment,
                    claiming: transaction.claim(token),
                    isAlive: transaction.isAlive
                )
            }
        }
    }

    /// Gives back a probe's slot that was claimed after its caller had given up.
    private func giveBack(_ outcome: Circuit.Admission) {
        guard case .probe(let token, let epoch) = outcome else { return }
        self.discard(.probe(token: token, epoch: epoch))
    }

    /// Throws the kept refusal unless its time is over.
    private func refuse(_ cause: RefusalCause, until: Int64) throws(CircuitOpenError) {
        if until == .max { throw self.makeRefusal(cause, nil) }
        let remaining = until.subtractingSaturating(self.core.clock.uptime)
        if remaining > 0 { throw self.makeRefusal(cause, remaining) }
    }

    /// Makes and counts the refusal; its last error is the file's unless another is given.
    func makeRefusal(_ cause: RefusalCause, _ microseconds: Int64?, lastError: String? = nil) -> CircuitOpenError {
        self.circuit.countRefusal()
        let lastRead = self.circuit.lastRead
        return CircuitOpenError(
            name: self.name,
            group: lastRead == nil ? self.circuit.registeredConfig.group : lastRead?.group,
            cause: cause,
            retryAfter: microseconds.map { Duration.microseconds(max(0, $0)) },
            lastError: lastError ?? lastRead?.lastError
        )
    }
}

/// Lets calls through, or refuses them.
extension CircuitBreaker {
    /// Lets one call through, or refuses it.
    ///
    /// Commits on the calling thread if a probe is due.
    func letThrough() throws(CircuitOpenError) -> Leave {
        if let leave = try self.leaveByLooking() { return self.beginning(leave) }
        let work = self.claimWork()
        let outcome: Circuit.Admission
        do throws(BreakerStoreError) {
            outcome = try self.core.commit(until: self.store.deadline, unclaimed: self.giveBack, work)
        } catch {
            return self.beginning(try self.leaveByMemory())
        }
        return self.beginning(try self.leave(by: outcome))
    }

    /// Lets one call through, or refuses it.
    ///
    /// Suspends while a probe's slot is claimed.
    func letThrough() async throws(CircuitOpenError) -> Leave {
        if let leave = try self.leaveByLooking() { return self.beginning(leave) }
        let work = self.claimWork()
        let outcome: Circuit.Admission
        do throws(BreakerStoreError) {
            outcome = try await self.core.commit(until: self.store.deadline, unclaimed: self.giveBack, work)
        } catch {
            return self.beginning(try self.leaveByMemory())
        }
        return self.beginning(try self.leave(by: outcome))
    }

    /// Leave for a call of a closed circuit, most of whose successes are only counted; nil if no cached decision is
    /// enough.
    ///
    /// Throws a kept refusal. To let a call through, this function makes no system call, takes no lock and allocates
    /// nothing; it reads the clock only if the call is measured.
    @usableFromInline
    func leaveByKeptAnswer() throws(CircuitOpenError) -> Leave? {
        guard self.isPlain else { return nil }
        let answer = self.circuit.slot.ask(self.store.gate)
        // The answers to most calls. The rest stands in a function of its own, so that this one keeps no object alive.
        if !self.measuresDurations {
            if answer.isProceed { return Leave(.closed, epoch: answer.epoch) }
            if answer.isProceedWithoutFailures, !self.circuit.counts.hasSlowRule {
                return Leave(.closedConsecutive, epoch: answer.epoch)
            }
        }
        return try self.rarerLeave(by: answer)
    }

    @inline(never)
    private func rarerLeave(by answer: CallAnswer) throws(CircuitOpenError) -> Leave? {
        switch answer.kind {
        case .proceed, .proceedMeasured:
            var leave = Leave(.closed, epoch: answer.epoch)
            leave.began = self.uptime
            return leave
        case .proceedWithoutFailures: return self.beginning(Leave(.closedConsecutive, epoch: answer.epoch))
        case .open, .heldOpen: return try self.leave(by: answer)
        case .unknown, .proceedWithFailures, .heldClosed, .observe, .probing, .claim: return nil
        }
    }

    /// The leave, with the uptime at which the operation begins, if the call is measured.
    private func beginning(_ leave: Leave) -> Leave {
        guard self.circuit.counts.hasSlowRule || self.measuresDurations else { return leave }
        var leave = leave
        leave.began = self.uptime
        return leave
    }

    // MARK: - Looking

    /// The present answer: the kept answer, or else a look at the file; nil if neither gives an answer.
    func lookIfNeeded() -> CallAnswer? { self.validAnswer ?? self.look() }

    /// The kept answer, if it counts and its time is not over.
    var validAnswer: CallAnswer? {
        let answer = self.circuit.slot.ask(self.store.gate)
        return answer.kind == .unknown || answer.isOver(at: self.core.clock.uptime) ? nil : answer
    }

    /// Looks at the circuit in the file, and keeps the answer; nil if the file has no such circuit, or can't be read.
    @discardableResult
    func look() -> CallAnswer? { self.mayUseFile ? (try? self.core.look(self.asker)) ?? nil : nil }

    /// Whether this handle may use the file: a child of `fork` and a closed store may not.
    var mayUseFile: Bool { !self.store.gate.isForked && !self.store.isClosed }

    /// Leave by the kept answer, or else by a look at the file; nil if a commit must decide.
    private func leaveByLooking() throws(CircuitOpenError) -> Leave? {
        if let leave = try self.leave(by: self.circuit.slot.ask(self.store.gate)) { return leave }
        guard self.mayUseFile else { return try self.leaveByMemory() }
        let answer: CallAnswer?
        do throws(BreakerStoreError) {
            answer = try self.core.look(self.asker)
        } catch {
            // The commit repairs a row that can't be read.
            if error.isOfUnusableRow { return nil }
            self.core.readFailed(error)
            return try self.leaveByMemory()
        }
        // The circuit was deleted from the file: the commit registers it again.
        guard let answer else { return nil }
        if answer.isClosed, self.core.isDegraded { return try self.leaveByMemory() }
        return try self.leave(by: answer)
    }

    /// Leave by an answer; nil if the answer says nothing, or its time is over.
    ///
    /// Throws an answer that refuses.
    private func leave(by answer: CallAnswer) throws(CircuitOpenError) -> Leave? {
        switch answer.kind {
        case .proceed, .proceedMeasured: return Leave(.closed, epoch: answer.epoch)
        case .proceedWithoutFailures, .proceedWithFailures:
            return Leave(.closedConsecutive, epoch: answer.epoch)
        case .heldClosed: return answer.isOver(at: self.core.clock.uptime) ? nil : .uncounted
        case .observe: return answer.isOver(at: self.core.clock.uptime) ? nil : self.countObserved()
        case .open: try self.refuse(.open, until: answer.until)
        case .heldOpen: try self.refuse(.held, until: answer.until)
        case .probing: throw self.makeRefusal(.probing, nil)
        case .unknown, .claim: break
        }
        return nil
    }

    /// Counts a call that an enforcing circuit would refuse, and lets it through.
    func countObserved() -> Leave {
        self.circuit.counts.lanes.add(.refused)
        return .uncounted
    }

    // MARK: - Claiming

    private func leave(by outcome: Circuit.Admission) throws(CircuitOpenError) -> Leave {
        switch outcome {
        case .proceed(let epoch):
            // The commit may have registered the circuit again: its counts must begin before this call ends.
            self.look()
            return Leave(.closedConsecutive, epoch: epoch)
        case .uncounted: return .uncounted
        case .observe: return self.countObserved()
        case .probe(let token, let epoch): return Leave(.probe, epoch: epoch, token: token)
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
        self.reportLater(.ignored, of: Leave(.probe, epoch: epoch, token: token))
    }

    /// Throws the kept refusal unless its time is over.
    private func refuse(_ cause: RefusalCause, until: Int64) throws(CircuitOpenError) {
        if until == .max { throw self.makeRefusal(cause, nil) }
        let remaining = until.subtractingSaturating(self.core.clock.uptime)
        if remaining > 0 { throw self.makeRefusal(cause, remaining) }
    }

    /// Makes and counts the refusal; its last error is that of the last look unless another error is given.
    ///
    /// A refusal by a hold has the hold in place of an error from before the hold.
    func makeRefusal(_ cause: RefusalCause, _ microseconds: Int64?, lastError: String? = nil) -> CircuitOpenError {
        self.circuit.counts.lanes.add(.refused)
        let lastRead = cause == .held ? self.lastReadWithHold : self.circuit.lastRead
        var refusal = CircuitOpenError(
            name: self.name,
            group: lastRead == nil ? self.circuit.registeredConfig.group : lastRead?.group,
            cause: cause,
            retryAfter: microseconds.map { Duration.microseconds(max(0, $0)) }
        )
        if cause == .held {
            refusal.boxedHold = lastRead?.refusingHold
        } else {
            refusal.lastError = lastError ?? lastRead?.lastError
        }
        return refusal
    }

    /// The last reading, for a refusal by a hold.
    ///
    /// Looks once more if that reading has no hold. Then the refusal comes from a commit, which keeps no reading, or
    /// from a reading that was not kept, because another process committed meanwhile.
    private var lastReadWithHold: SharedCircuit.LastRead? {
        if let lastRead = self.circuit.lastRead, lastRead.refusingHold != nil { return lastRead }
        self.look()
        return self.circuit.lastRead
    }
}

/// Reports to the circuit how calls ended.
extension CircuitBreaker {
    func ending(_ error: any Error) -> Ending { Ending(verdict: self.policy.classify(error), error: error) }

    /// The ending of a call that code reports on purpose; the report counts even if the reporting task is cancelled.
    func reportedEnding(_ error: (any Error)?) -> Ending {
        guard let error else { return Ending(verdict: .failure) }
        return Cancellation.$isDisregarded.withValue(true) { self.ending(error) }
    }

    /// The text that is stored for a failure.
    ///
    /// The policy is asked only now: describing an error costs more than counting it.
    func text(of ending: Ending) -> String? {
        guard ending.verdict.isFailure else { return nil }
        return ending.text ?? ending.error.map { StoredText.cut(self.policy.describe($0)) }
    }

    // MARK: - The end of a call

    /// Reports on the calling thread; a report that can't be committed counts in memory.
    func report(_ ending: Ending, of leave: Leave) { self.carryOut(self.end(ending, of: leave)) }

    /// Suspends until the report is committed; if the task is cancelled, the report is committed all the same.
    func report(_ ending: Ending, of leave: Leave) async { await self.carryOut(self.end(ending, of: leave)) }

    /// Reports without waiting for the commit, which the store's thread makes.
    func reportLater(_ ending: Ending, of leave: Leave) {
        let end = self.end(ending, of: leave)
        if let input = end.input {
            self.core.post(
                until: self.store.deadline, then: { self.noteOwnFailure(input) },
                orElse: { _ in self.countInMemory(input) }, self.work(input))
        }
        self.countLater(end)
    }

    func carryOut(_ end: CallEnd) {
        self.commit(end.input)
        guard let share = self.countAndAsk(end) else { return }
        guard let work = self.act(on: share, end) else { return }
        do throws(BreakerStoreError) {
            try self.core.commit(until: self.store.deadline, work)
        } catch {
            self.countInMemory(share, end)
        }
    }

    func carryOut(_ end: CallEnd) async {
        await self.commit(end.input)
        guard let share = await self.count(end) else { return }
        guard let work = self.act(on: share, end) else { return }
        do throws(BreakerStoreError) {
            try await self.core.commit(until: self.store.deadline, work)
        } catch {
            self.countInMemory(share, end)
        }
    }

    /// Decides the work at a call's end; counts a good end, and reports to memory the end of a call that memory let
    /// through.
    func end(_ ending: Ending, of leave: Leave) -> CallEnd {
        let count = self.countInLanes(ending, of: leave)
        let ending = self.slowProbe(ending, of: leave)
        return CallEnd(ending: ending, input: self.makeInput(ending, of: leave), count: count)
    }

    /// Turns the success of a slow probe into a failure.
    private func slowProbe(_ ending: Ending, of leave: Leave) -> Ending {
        guard leave.isProbe, case .success = ending.verdict, self.wasSlow(ending), let duration = ending.duration
        else { return ending }
        var ending = ending
        ending.verdict = .failure
        ending.text = "took \(Duration.microseconds(duration).readable)"
        return ending
    }

    /// Makes the input to commit for a call's end; nil if there is none.
    private func makeInput(_ ending: Ending, of leave: Leave) -> CircuitInput? {
        switch (leave.source, ending.verdict) {
        case (.uncounted, _), (.closed, .success), (.closed, .ignored), (.closedConsecutive, .ignored): return nil
        case (.closedInMemory, _), (.probeInMemory, _):
            self.countInMemory(ending, of: leave)
            return nil
        case (.probe, let verdict):
            return .probeEnded(token: leave.token, epoch: leave.epoch, verdict, error: self.text(of: ending))
        case (.closedConsecutive, .success):
            return self.lookForFailures() ? .succeeded(self.newReport(leave.epoch, .success)) : nil
        // The board counts this failure, so that no code would read a row of it. An outage needs its input: it opens
        // the circuit at once.
        case (_, .failure) where self.circuit.counts.countsFailures: return nil
        case (.closed, _), (.closedConsecutive, _): return .failed(self.newReport(leave.epoch, ending))
        }
    }

    /// Whether there are failures to forget: under the consecutive rule a success is committed only then.
    private func lookForFailures() -> Bool {
        guard let answer = self.lookIfNeeded() else { return true }
        return answer.kind == .proceedWithFailures
    }

    // MARK: - Committing

    func commit(_ input: CircuitInput?) {
        guard let input else { return }
        do throws(BreakerStoreError) {
            try self.core.commit(until: self.store.deadline, self.work(input))
            self.look(after: input)
        } catch {
            self.countInMemory(input)
        }
    }

    func commit(_ input: CircuitInput?) async {
        guard let input else { return }
        do throws(BreakerStoreError) {
            try await self.core.commit(until: self.store.deadline, self.work(input))
            self.look(after: input)
        } catch {
            self.countInMemory(input)
        }
    }

    /// Looks after a commit that may have changed the circuit's state or registered it again, so that counts follow it.
    private func look(after input: CircuitInput) {
        switch input {
        case .probeEnded, .recorded: self.look()
        case .failed, .failedUnread, .succeeded: break
        }
        self.noteOwnFailure(input)
    }

    /// Notes a committed failure, for memory.
    private func noteOwnFailure(_ input: CircuitInput) {
        switch input {
        case .failed(let report): self.circuit.noteOwn(report, inEpoch: report.epoch)
        case .recorded(let report, failed: true, token: _), .failedUnread(let report):
            self.circuit.noteOwn(report, inEpoch: self.circuit.lastRead?.epoch ?? 0)
        case .recorded, .succeeded, .probeEnded: break
        }
    }

    private func work(_ input: CircuitInput) -> StoreCore.Work<Void> {
        let name = self.name
        let config = self.circuit.registeredConfig
        return { (transaction) throws(BreakerStoreError) in
            try transaction.apply(input, to: name, registering: config)
        }
    }

    func newReport(_ epoch: Int64, _ ending: Ending) -> Report {
        let key = self.core.keys.next()
        return Report(
            worker: key.worker,
            sequence: key.sequence,
            epoch: epoch,
            at: self.core.clock.now,
            error: self.text(of: ending),
            outage: ending.verdict.outage
        )
    }
}

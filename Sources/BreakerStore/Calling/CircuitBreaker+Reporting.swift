/// Reports to the circuit how calls ended.
extension CircuitBreaker {
    func ending(_ error: any Error) -> Ending { Ending(verdict: self.policy.classify(error), error: error) }

    /// How a call ended that somebody reports on purpose; the report counts even if the reporting task is cancelled.
    func reportedEnding(_ error: (any Error)?) -> Ending {
        guard let error else { return Ending(verdict: .failure) }
        return Cancellation.$isDisregarded.withValue(true) { self.ending(error) }
    }

    /// What is stored of a failure.
    ///
    /// The policy is asked only now: to describe an error costs more than to count one.
    func text(of ending: Ending) -> String? {
        guard ending.verdict.isFailure else { return nil }
        return ending.text ?? ending.error.map { StoredText.cut(self.policy.describe($0)) }
    }

    /// Commits on the calling thread; what can't be committed counts in memory.
    func report(_ ending: Ending, of admitted: Admitted) {
        let counted = self.countIfGood(ending, of: admitted)
        let ending = self.slowProbe(ending, of: admitted)
        self.commit(self.makeInput(ending, of: admitted))
        let share = self.count(counted)
        guard let work = self.act(on: share, counted, ending) else { return }
        do throws(BreakerStoreError) {
            try self.core.commit(until: self.store.deadline, work)
        } catch {
            self.tellMemory(share, ending)
        }
    }

    /// Suspends until the report is committed; if the task is cancelled, the report is committed all the same.
    func report(_ ending: Ending, of admitted: Admitted) async {
        let counted = self.countIfGood(ending, of: admitted)
        let ending = self.slowProbe(ending, of: admitted)
        let input = self.makeInput(ending, of: admitted)
        await self.commit(input)
        let share = await self.count(counted, ending, afterCommit: input != nil)
        guard let work = self.act(on: share, counted, ending) else { return }
        do throws(BreakerStoreError) {
            try await self.core.commit(until: self.store.deadline, work)
        } catch {
            self.tellMemory(share, ending)
        }
    }

    /// Reports without waiting for the commit, which the store's thread makes.
    func reportLater(_ ending: Ending, of admitted: Admitted) {
        let counted = self.countIfGood(ending, of: admitted)
        let ending = self.slowProbe(ending, of: admitted)
        if let input = self.makeInput(ending, of: admitted) {
            self.core.post(until: self.store.deadline, orElse: { _ in self.tellMemory(input) }, self.work(input))
        }
        self.countLater(counted, ending)
    }

    /// A probe that was too slow is as good as one that failed.
    private func slowProbe(_ ending: Ending, of admitted: Admitted) -> Ending {
        guard admitted.isProbe, case .success = ending.verdict, self.isSlow(ending), let duration = ending.duration
        else { return ending }
        var ending = ending
        ending.verdict = .failure
        ending.text = "took \(Duration.microseconds(duration).readable)"
        return ending
    }

    /// Gives back a probe's slot without waiting for the commit.
    func discard(_ admitted: Admitted) { self.reportLater(.ignored, of: admitted) }

    func commit(_ input: CircuitInput?) {
        guard let input else { return }
        do throws(BreakerStoreError) {
            try self.core.commit(until: self.store.deadline, self.work(input))
            self.look(after: input)
        } catch {
            self.tellMemory(input)
        }
    }

    func commit(_ input: CircuitInput?) async {
        guard let input else { return }
        do throws(BreakerStoreError) {
            try await self.core.commit(until: self.store.deadline, self.work(input))
            self.look(after: input)
        } catch {
            self.tellMemory(input)
        }
    }

    /// Looks at the circuit after a commit that may have moved the circuit on, or registered it anew.
    ///
    /// What is counted and kept from now on is the present circuit's.
    private func look(after input: CircuitInput) {
        switch input {
        case .probeEnded, .recorded: _ = try? self.core.look(self.asker)
        case .failed, .failedUnread, .succeeded: break
        }
    }

    private func work(_ input: CircuitInput) -> StoreCore.Work<Void> {
        let name = self.name
        let config = self.circuit.registeredConfig
        return { (transaction) throws(BreakerStoreError) in
            try transaction.apply(input, to: name, registering: config)
        }
    }

    /// Makes what is to be committed of a call's end; nil if nothing is.
    ///
    /// Tells memory of a call that memory let through.
    private func makeInput(_ ending: Ending, of admitted: Admitted) -> CircuitInput? {
        switch admitted {
        case .uncounted, .observed:
            return nil
        case .inMemory(let admission):
            self.tellMemory(ending, after: admission)
            return nil
        case .counted(let epoch, let reportsSuccess):
            switch ending.verdict {
            case .ignored: return nil
            case .success:
                return reportsSuccess && self.hasFailuresToForget ? .succeeded(self.newReport(epoch, .success)) : nil
            // The board has it; a row would be one that nobody reads. But an outage opens the circuit by itself.
            case .failure where self.circuit.counts.countsFailures: return nil
            case .failure, .outage: return .failed(self.newReport(epoch, ending))
            }
        case .probe(let token, let epoch):
            return .probeEnded(token: token, epoch: epoch, ending.verdict, error: self.text(of: ending))
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

    /// Whether there are failures to forget: under the consecutive rule a success is written only then.
    private var hasFailuresToForget: Bool {
        switch self.circuit.slot.ask(self.store.gate).verdict {
        case .proceed, .proceedMeasured, .proceedAndReportSuccess: return false
        case .proceedAndForgetFailures: return true
        case .none, .open, .heldOpen, .heldClosed, .observe: break
        }
        let look = try? self.core.look(self.asker)
        return look?.hasFailures ?? true
    }
}

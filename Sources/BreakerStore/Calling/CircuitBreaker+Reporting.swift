/// Reports to the circuit how calls ended.
extension CircuitBreaker {
    func ending(_ error: any Error) -> Ending {
        let verdict = self.policy.classify(error)
        return Ending(verdict: verdict, text: verdict.isFailure ? self.text(of: error) : nil, error: error)
    }

    /// How a call ended that somebody reports on purpose; the report counts even if the reporting task is cancelled.
    func reportedEnding(_ error: (any Error)?) -> Ending {
        guard let error else { return Ending(verdict: .failure) }
        return Cancellation.$isDisregarded.withValue(true) { self.ending(error) }
    }

    func text(of error: any Error) -> String { StoredText.cut(self.policy.describe(error)) }

    /// Commits on the calling thread; what can't be committed counts in memory.
    func report(_ ending: Ending, of admitted: Admitted) { self.commit(self.input(ending, of: admitted)) }

    /// Suspends until the report is committed; if the task is cancelled, the report is committed all the same.
    func report(_ ending: Ending, of admitted: Admitted) async { await self.commit(self.input(ending, of: admitted)) }

    /// Reports without waiting for the commit, which the store's thread makes.
    func reportLater(_ ending: Ending, of admitted: Admitted) {
        guard let input = self.input(ending, of: admitted) else { return }
        self.core.post(until: self.store.deadline, orElse: { _ in self.tellMemory(input) }, self.work(input))
    }

    /// Gives back a probe's slot without waiting for the commit.
    func discard(_ admitted: Admitted) { self.reportLater(.ignored, of: admitted) }

    func commit(_ input: CircuitInput?) {
        guard let input else { return }
        do throws(BreakerStoreError) {
            try self.core.commit(until: self.store.deadline, for: self.asker, self.work(input))
        } catch {
            self.tellMemory(input)
        }
    }

    func commit(_ input: CircuitInput?) async {
        guard let input else { return }
        do throws(BreakerStoreError) {
            try await self.core.commit(until: self.store.deadline, for: self.asker, isBrief: true, self.work(input))
        } catch {
            self.tellMemory(input)
        }
    }

    private func work(_ input: CircuitInput) -> StoreCore.Work<Void> {
        let name = self.name
        let config = self.circuit.registeredConfig
        return { (transaction) throws(BreakerStoreError) in
            try transaction.apply(input, to: name, registering: config)
        }
    }

    /// What is to be committed of a call's end; nil if nothing is, or memory has let the call through.
    private func input(_ ending: Ending, of admitted: Admitted) -> CircuitInput? {
        switch admitted {
        case .uncounted:
            return nil
        case .inMemory(let admission):
            self.tellMemory(ending, after: admission)
            return nil
        case .counted(let epoch, let reportsSuccess):
            switch ending.verdict {
            case .ignored: return nil
            case .success:
                return reportsSuccess && self.hasFailuresToForget ? .succeeded(self.newReport(epoch, .success)) : nil
            case .failure, .outage: return .failed(self.newReport(epoch, ending))
            }
        case .probe(let token, let epoch):
            return .probeEnded(token: token, epoch: epoch, ending.verdict, error: ending.text)
        }
    }

    func newReport(_ epoch: Int64, _ ending: Ending) -> Report {
        let key = self.core.keys.next()
        return Report(
            worker: key.worker,
            sequence: key.sequence,
            epoch: epoch,
            at: self.core.clock.now,
            error: ending.text,
            outage: ending.verdict.outage
        )
    }

    /// Whether there are failures to forget: under the consecutive rule a success is written only then.
    private var hasFailuresToForget: Bool {
        switch self.circuit.slot.ask(self.store.gate).verdict {
        case .proceed, .proceedAndReportSuccess: return false
        case .proceedAndForgetFailures: return true
        case .none, .open, .heldOpen, .heldClosed: break
        }
        let look = try? self.core.look(self.asker)
        return look?.hasFailures ?? true
    }
}

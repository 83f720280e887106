/// Reports of code that guards itself with `isCallPermitted`.
extension CircuitBreaker {
    /// Reports a success without a permit.
    ///
    /// In half-open, or open when its time has come, it claims and reports in one step.
    ///
    /// Suspends until it is committed, if there is anything to commit.
    public func recordSuccess() async { await self.record(Ending(verdict: .success)) }

    /// Reports a success without a permit; commits on the calling thread.
    @_disfavoredOverload
    public func recordSuccess() { self.record(Ending(verdict: .success)) }

    /// Reports a failure without a permit.
    ///
    /// In half-open, or open when its time has come, it claims and reports in one step.
    ///
    /// Suspends until it is committed. The policy's `classify` judges the error.
    /// - Parameter error: what went wrong, if that is known.
    public func recordFailure(_ error: (any Error)? = nil) async { await self.record(self.ending(error)) }

    /// Reports a failure without a permit; commits on the calling thread.
    /// - Parameter error: what went wrong, if that is known.
    @_disfavoredOverload
    public func recordFailure(_ error: (any Error)? = nil) { self.record(self.ending(error)) }

    func ending(_ error: (any Error)?) -> Ending { error.map(self.ending) ?? Ending(verdict: .failure) }

    private func record(_ ending: Ending) {
        guard let work = self.recordWork(ending) else { return }
        do throws(BreakerStoreError) {
            try self.core.commit(until: self.store.deadline, for: self.asker, work)
        } catch {
            self.reportToMemory(ending)
        }
    }

    private func record(_ ending: Ending) async {
        guard let work = self.recordWork(ending) else { return }
        do throws(BreakerStoreError) {
            try await self.core.commit(until: self.store.deadline, for: self.asker, work)
        } catch {
            self.reportToMemory(ending)
        }
    }
}

import Synchronization

/// Leave to make one call.
///
/// The first report counts, later ones are ignored; freed without one, it is discarded.
public final class CallPermit: Sendable {
    private let breaker: CircuitBreaker
    private let admitted: Admitted
    private let began: ContinuousClock.Instant?
    private let isUsed = Atomic<Bool>(false)

    init(_ breaker: CircuitBreaker, _ admitted: Admitted, began: ContinuousClock.Instant?) {
        self.breaker = breaker
        self.admitted = admitted
        self.began = began
    }

    deinit { self.discard() }

    /// Reports that the call succeeded; suspends until that is committed, if there is anything to commit.
    public func succeed() async { await self.end(CircuitBreaker.Ending(verdict: .success)) }

    /// Reports that the call succeeded; commits on the calling thread.
    @_disfavoredOverload
    public func succeed() { self.end(CircuitBreaker.Ending(verdict: .success)) }

    /// Reports that the call failed; suspends until that is committed.
    ///
    /// The policy's `classify` judges the error.
    /// - Parameter error: what went wrong, if that is known.
    public func fail(_ error: (any Error)? = nil) async { await self.end(self.breaker.ending(error)) }

    /// Reports that the call failed; commits on the calling thread.
    /// - Parameter error: what went wrong, if that is known.
    @_disfavoredOverload
    public func fail(_ error: (any Error)? = nil) { self.end(self.breaker.ending(error)) }

    /// Gives the permit back without a verdict: a probe's slot is freed, nothing is counted.
    ///
    /// Returns at once; the store's thread commits.
    public func discard() {
        guard self.use() else { return }
        self.breaker.discard(self.admitted)
        self.breaker.tell(.ignored, self.began)
    }

    private func use() -> Bool { !self.isUsed.exchange(true, ordering: .acquiringAndReleasing) }

    private func end(_ ending: CircuitBreaker.Ending) {
        guard self.use() else { return }
        self.breaker.report(ending, of: self.admitted)
        self.breaker.tell(CallOutcome.Result(ending.verdict), self.began)
    }

    private func end(_ ending: CircuitBreaker.Ending) async {
        guard self.use() else { return }
        await self.breaker.report(ending, of: self.admitted)
        self.breaker.tell(CallOutcome.Result(ending.verdict), self.began)
    }
}

extension CircuitBreaker {
    /// Leave to make one call, for callback code: a permit to report with.
    ///
    /// Throws `CircuitOpenError`. Suspends while a probe is claimed.
    public func admit() async throws -> CallPermit {
        let began = self.newStopwatch()
        do throws(CircuitOpenError) {
            return CallPermit(self, try await self.admitted(), began: began)
        } catch {
            self.tell(.refused, began)
            throw error
        }
    }

    /// Leave to make one call, for callback code; a probe is claimed on the calling thread.
    ///
    /// Throws `CircuitOpenError`.
    @_disfavoredOverload
    public func admit() throws -> CallPermit {
        let began = self.newStopwatch()
        do throws(CircuitOpenError) {
            return CallPermit(self, try self.admitted(), began: began)
        } catch {
            self.tell(.refused, began)
            throw error
        }
    }
}

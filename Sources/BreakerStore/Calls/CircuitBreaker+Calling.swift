/// The inlined path of all forms of a call: of those that the cached decision alone settles.
extension CircuitBreaker {
    /// Makes one call: by the cached decision if that is enough, otherwise by a driver.
    ///
    /// Inlined into the caller, where T is known: a generic function would cost three times as much. A call that the
    /// cached decision can't decide, and an outcome that is no plain success, are left to `finish`: with that code in
    /// this body, an asynchronous call with a fallback would cost three times as much.
    ///
    /// - Parameters:
    ///   - judge: judges a value; nil for a success.
    ///   - hasFallback: whether `fallback` is the user's.
    @inlinable
    @inline(__always)
    func call<T>(
        _ operation: () async throws -> T,
        _ judge: (T) -> Outcome?,
        hasFallback: Bool = false,
        _ fallback: (any Error) async throws -> T = { throw $0 }
    ) async throws -> T {
        let admission: Admission?
        do throws(CircuitOpenError) {
            admission = try self.admitByCachedDecision()
        } catch {
            guard hasFallback, !Task.isCancelled else { throw error }
            return try await fallback(error)
        }
        guard let admission else {
            return try await self.finish(.new, nil, operation, judge, hasFallback: hasFallback, fallback)
        }
        let value: T
        do {
            value = try await operation()
        } catch {
            return try await self.finish(
                .threw(error, admission), nil, operation, judge, hasFallback: hasFallback, fallback)
        }
        // Judging is not part of the call.
        let took = admission.isMeasured ? self.duration(of: admission) : nil
        let judged = judge(value)
        if judged == nil, self.countSuccess(of: admission, taking: took) { return value }
        return try await self.finish(
            .returned(judged, took: took, admission), value, operation, judge, hasFallback: hasFallback, fallback)
    }

    /// Drives a call to its end.
    @inlinable
    @inline(never)
    func finish<T>(
        _ begun: BegunCall, _ value: T?, _ operation: () async throws -> T, _ judge: (T) -> Outcome?,
        hasFallback: Bool, _ fallback: (any Error) async throws -> T
    ) async throws -> T {
        var value = value
        try await self.drive(
            begun, hasFallback: hasFallback,
            operation: { value = try await operation() },
            judge: { value.flatMap { judge($0) } },
            fallback: { value = try await fallback($0) })
        // `drive` returned without an error, so the operation or the fallback has set a value.
        guard let value else { throw CancellationError() }
        return value
    }

    /// The same for a synchronous caller.
    @inlinable
    @inline(__always)
    func call<T>(
        _ operation: () throws -> T,
        _ judge: (T) -> Outcome?,
        hasFallback: Bool = false,
        _ fallback: (any Error) throws -> T = { throw $0 }
    ) throws -> T {
        let admission: Admission?
        do throws(CircuitOpenError) {
            admission = try self.admitByCachedDecision()
        } catch {
            guard hasFallback, !Task.isCancelled else { throw error }
            return try fallback(error)
        }
        guard let admission else {
            return try self.finish(.new, nil, operation, judge, hasFallback: hasFallback, fallback)
        }
        let value: T
        do {
            value = try operation()
        } catch {
            return try self.finish(.threw(error, admission), nil, operation, judge, hasFallback: hasFallback, fallback)
        }
        // Judging is not part of the call.
        let took = admission.isMeasured ? self.duration(of: admission) : nil
        let judged = judge(value)
        if judged == nil, self.countSuccess(of: admission, taking: took) { return value }
        return try self.finish(
            .returned(judged, took: took, admission), value, operation, judge, hasFallback: hasFallback, fallback)
    }

    /// Drives a call of a synchronous caller to its end.
    @inlinable
    @inline(never)
    func finish<T>(
        _ begun: BegunCall, _ value: T?, _ operation: () throws -> T, _ judge: (T) -> Outcome?,
        hasFallback: Bool, _ fallback: (any Error) throws -> T
    ) throws -> T {
        var value = value
        try self.drive(
            begun, hasFallback: hasFallback,
            operation: { value = try operation() },
            judge: { value.flatMap { judge($0) } },
            fallback: { value = try fallback($0) })
        // `drive` returned without an error, so the operation or the fallback has set a value.
        guard let value else { throw CancellationError() }
        return value
    }

    // MARK: - The cached decision

    /// Lets through a call of a closed circuit, most of whose successes are only counted; nil if no cached decision is
    /// enough.
    ///
    /// Throws a cached refusal. To let a call through, this function makes no system call, takes no lock and allocates
    /// nothing; it reads the clock only if the call is measured.
    @usableFromInline
    func admitByCachedDecision() throws(CircuitOpenError) -> Admission? {
        // A timeout, retries and `onOutcome` need a driver.
        guard self.isPlain else { return nil }
        let decision = self.circuit.cache.read(self.store.gate)
        // The decisions of most calls. The others are left to a function of their own, so that this one retains no
        // object.
        if !self.measuresDurations {
            if decision.isProceed { return Admission(.closed, epoch: decision.epoch) }
            if decision.isProceedWithoutFailures, !self.circuit.counts.hasSlowRule {
                return Admission(.closedConsecutive, epoch: decision.epoch)
            }
        }
        return try self.admitByRarerDecision(decision)
    }

    @inline(never)
    private func admitByRarerDecision(_ decision: CallDecision) throws(CircuitOpenError) -> Admission? {
        switch decision.kind {
        case .proceed, .proceedMeasured: return self.measured(Admission(.closed, epoch: decision.epoch), always: true)
        case .proceedWithoutFailures: return self.measured(Admission(.closedConsecutive, epoch: decision.epoch))
        case .open, .heldOpen:
            let remaining = decision.until == .max ? nil : decision.until.microseconds(since: self.core.clock.uptime)
            if let remaining, remaining <= 0 { return nil }
            throw self.makeRefusal(decision.kind == .open ? .open : .held, remaining)
        case .unknown, .proceedWithFailures, .heldClosed, .observe, .probing, .claim: return nil
        }
    }

    /// The admission, with the uptime at which the operation begins, if the call is measured.
    ///
    /// - Parameter always: whether it is known that the call is measured: the handle or the decision demands it.
    func measured(_ admission: Admission, always: Bool = false) -> Admission {
        guard always || self.circuit.counts.hasSlowRule || self.measuresDurations else { return admission }
        var admission = admission
        admission.began = self.uptime
        return admission
    }

    /// Counts a success by one addition to private memory, if that is all there is to do.
    ///
    /// - Parameter took: how many microseconds the call took; nil if it was not measured.
    /// - Returns: false if the success must be reported: the call was slow, or there may be failures to forget.
    @usableFromInline
    func countSuccess(of admission: Admission, taking took: Int64?) -> Bool {
        switch admission.source {
        case .closed: break
        case .closedConsecutive:
            guard self.circuit.cache.read(self.store.gate).isProceedWithoutFailures else { return false }
        case .probe, .uncounted, .observed, .closedInMemory, .probeInMemory: return false
        }
        if let took, !self.countUnlessSlow(took) { return false }
        self.circuit.counts.lanes.add(.succeeded)
        return true
    }

    @inline(never)
    private func countUnlessSlow(_ duration: Int64) -> Bool {
        if self.circuit.counts.isSlow(duration) { return false }
        self.circuit.counts.durations.add(duration)
        return true
    }

    /// How many microseconds the operation took, which has just ended; nil if the call was not measured.
    @usableFromInline
    func duration(of admission: Admission) -> Int64? {
        admission.isMeasured ? max(0, self.uptime.microseconds(since: admission.began)) : nil
    }

    // MARK: - Outcomes

    /// The outcome of a value that is a failure without being an error.
    ///
    /// A failing value is described by its type, as an error is by default: the value may have secrets.
    @inlinable
    func failingOutcome<T>(of value: T) -> Outcome { self.failingOutcome(ofType: type(of: value as Any)) }

    @usableFromInline
    func failingOutcome(ofType type: Any.Type) -> Outcome {
        Outcome(verdict: .failure, text: StoredText.cut(TypeNames.name(of: type)))
    }

    /// The outcome of a value that stands for an error, as the policy judges the error.
    @usableFromInline
    func outcome(of error: any Error) -> Outcome { Outcome(verdict: self.policy.classify(error), error: error) }
}

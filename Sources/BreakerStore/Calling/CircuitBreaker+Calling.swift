/// What all forms of a call have in common.
extension CircuitBreaker {
    /// Makes one call: tries the cached decision first, and counts a success by one function.
    ///
    /// Inlined into the caller, where T is known: a generic function would cost three times as much. Only what a cached
    /// decision can't decide, and an end that is no plain success, leaves this function: with all that in its body, an
    /// asynchronous call with a fallback would cost three times as much.
    ///
    /// - Parameter hasFallback: whether `fallback` is the user's.
    @inlinable
    @inline(__always)
    func call<T>(
        _ operation: () async throws -> T,
        _ judge: (T) -> ValueJudgement,
        hasFallback: Bool = false,
        _ fallback: (any Error) async throws -> T = { throw $0 }
    ) async throws -> T {
        let leave: Leave?
        do throws(CircuitOpenError) {
            leave = try self.leaveByKeptAnswer()
        } catch {
            guard hasFallback else { throw error }
            return try await self.replace(error, if: !Task.isCancelled, fallback)
        }
        guard let leave else {
            return try await self.callAsking(operation, judge, hasFallback: hasFallback, fallback)
        }
        let value: T
        do {
            value = try await operation()
        } catch {
            let isReplaceable = await self.report(error, of: leave)
            guard hasFallback else { throw error }
            return try await self.replace(error, if: isReplaceable, fallback)
        }
        // Judging is not part of the call.
        let took = leave.isMeasured ? self.duration(of: leave) : nil
        let judgement = judge(value)
        if case .good = judgement, self.countSuccess(of: leave, taking: took) { return value }
        return try await self.end(value, judgement, taking: took, of: leave, hasFallback: hasFallback, fallback)
    }

    /// Throws an error, or gives the caller what `fallback` makes of it.
    @inlinable
    @inline(never)
    func replace<T>(
        _ error: any Error, if isReplaceable: Bool, _ fallback: (any Error) async throws -> T
    ) async throws -> T {
        guard isReplaceable else { throw error }
        return try await fallback(error)
    }

    /// Ends a call whose value is no plain success.
    @inlinable
    @inline(never)
    func end<T>(
        _ value: T, _ judgement: ValueJudgement, taking took: Int64?, of leave: Leave, hasFallback: Bool,
        _ fallback: (any Error) async throws -> T
    ) async throws -> T {
        let error = await self.report(judgement, ofType: type(of: value as Any), taking: took, of: leave)
        guard hasFallback, let error else { return value }
        return try await fallback(error)
    }

    /// Makes a call for which the cached decision is not enough: reads the file, claims a probe's slot, or follows the
    /// policy.
    @inlinable
    func callAsking<T>(
        _ operation: () async throws -> T,
        _ judge: (T) -> ValueJudgement,
        hasFallback: Bool,
        _ fallback: (any Error) async throws -> T
    ) async throws -> T {
        var value: T?
        let attempt = await self.lastAttempt(
            of: { value = try await operation() },
            judged: { self.ending(value, judge) })
        guard hasFallback, let error = attempt.errorForFallback else { return try attempt.get(value) }
        return try await fallback(error)
    }

    /// Reports an error that the operation has thrown; returns whether a fallback may replace it.
    @usableFromInline
    func report(_ error: any Error, of leave: Leave) async -> Bool {
        let ending = self.ending(error).taking(self.duration(of: leave))
        await self.report(ending, of: leave)
        return ending.errorForFallback != nil
    }

    /// Reports a value that is no plain success; returns the error that a fallback may replace.
    @usableFromInline
    func report(
        _ judgement: ValueJudgement, ofType type: Any.Type, taking took: Int64?, of leave: Leave
    ) async -> (any Error)? {
        let ending = self.ending(judgement, ofType: type).taking(took)
        await self.report(ending, of: leave)
        return ending.errorForFallback
    }

    /// The same in the form of a synchronous caller.
    @inlinable
    @inline(__always)
    func call<T>(
        _ operation: () throws -> T,
        _ judge: (T) -> ValueJudgement,
        hasFallback: Bool = false,
        _ fallback: (any Error) throws -> T = { throw $0 }
    ) throws -> T {
        let leave: Leave?
        do throws(CircuitOpenError) {
            leave = try self.leaveByKeptAnswer()
        } catch {
            guard hasFallback else { throw error }
            return try self.replace(error, if: !Task.isCancelled, fallback)
        }
        guard let leave else {
            return try self.callAsking(operation, judge, hasFallback: hasFallback, fallback)
        }
        let value: T
        do {
            value = try operation()
        } catch {
            let isReplaceable = self.report(error, of: leave)
            guard hasFallback else { throw error }
            return try self.replace(error, if: isReplaceable, fallback)
        }
        // Judging is not part of the call.
        let took = leave.isMeasured ? self.duration(of: leave) : nil
        let judgement = judge(value)
        if case .good = judgement, self.countSuccess(of: leave, taking: took) { return value }
        return try self.end(value, judgement, taking: took, of: leave, hasFallback: hasFallback, fallback)
    }

    /// Throws an error, or gives the caller what `fallback` makes of it.
    @inlinable
    @inline(never)
    func replace<T>(
        _ error: any Error, if isReplaceable: Bool, _ fallback: (any Error) throws -> T
    ) throws -> T {
        guard isReplaceable else { throw error }
        return try fallback(error)
    }

    /// Ends a call whose value is no plain success.
    @inlinable
    @inline(never)
    func end<T>(
        _ value: T, _ judgement: ValueJudgement, taking took: Int64?, of leave: Leave, hasFallback: Bool,
        _ fallback: (any Error) throws -> T
    ) throws -> T {
        let error = self.report(judgement, ofType: type(of: value as Any), taking: took, of: leave)
        guard hasFallback, let error else { return value }
        return try fallback(error)
    }

    /// Makes a call for which the cached decision is not enough: reads the file, claims a probe's slot, or follows the
    /// policy.
    @inlinable
    func callAsking<T>(
        _ operation: () throws -> T,
        _ judge: (T) -> ValueJudgement,
        hasFallback: Bool,
        _ fallback: (any Error) throws -> T
    ) throws -> T {
        var value: T?
        let attempt = self.lastAttempt(
            of: { value = try operation() },
            judged: { self.ending(value, judge) })
        guard hasFallback, let error = attempt.errorForFallback else { return try attempt.get(value) }
        return try fallback(error)
    }

    /// Reports an error that the operation has thrown; returns whether a fallback may replace it.
    @usableFromInline
    func report(_ error: any Error, of leave: Leave) -> Bool {
        let ending = self.ending(error).taking(self.duration(of: leave))
        self.report(ending, of: leave)
        return ending.errorForFallback != nil
    }

    /// Reports a value that is no plain success; returns the error that a fallback may replace.
    @usableFromInline
    func report(
        _ judgement: ValueJudgement, ofType type: Any.Type, taking took: Int64?, of leave: Leave
    ) -> (any Error)? {
        let ending = self.ending(judgement, ofType: type).taking(took)
        self.report(ending, of: leave)
        return ending.errorForFallback
    }

    /// Counts a success by an addition to private memory, if that is all there is to do.
    ///
    /// - Parameter took: how many microseconds the call took; nil if it is not measured.
    /// - Returns: false if the success must be reported: the call was slow, or there may be failures to forget.
    @usableFromInline
    func countSuccess(of leave: Leave, taking took: Int64?) -> Bool {
        switch leave.source {
        case .closed: break
        case .closedConsecutive:
            guard self.circuit.slot.ask(self.store.gate).isProceedWithoutFailures else { return false }
        case .probe, .uncounted, .closedInMemory, .probeInMemory: return false
        }
        if let took, !self.countUnlessSlow(took) { return false }
        // A call of a circuit that was forgotten meanwhile is not counted.
        self.circuit.counts.lanes.add(.succeeded, epoch: leave.epoch)
        return true
    }

    @inline(never)
    private func countUnlessSlow(_ duration: Int64) -> Bool {
        if self.circuit.counts.isSlow(duration) { return false }
        self.circuit.counts.durations.add(duration)
        return true
    }

    @inlinable
    func ending<T>(_ value: T?, _ judge: (T) -> ValueJudgement) -> Ending {
        guard let value else { return self.ending(.good, ofType: T.self) }
        return self.ending(judge(value), ofType: type(of: value as Any))
    }

    /// What a value means for the circuit.
    ///
    /// A failing value is described by its type, as an error is by default: the value may have secrets.
    @usableFromInline
    func ending(_ judgement: ValueJudgement, ofType type: @autoclosure () -> Any.Type) -> Ending {
        switch judgement {
        case .good: .success
        case .failing: Ending(verdict: .failure, text: StoredText.cut(TypeNames.name(of: type())))
        case .error(let error): self.ending(error)
        }
    }
}

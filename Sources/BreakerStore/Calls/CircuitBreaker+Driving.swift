/// How far a call got on the inlined path.
@usableFromInline
enum BegunCall: Sendable {
    case new
    case threw(any Error, Admission)
    /// - took: how many microseconds the operation took; nil if it was not measured.
    case returned(Outcome?, took: Int64?, Admission)
}

/// Drives calls: a function for synchronous callers, one for tasks, and one for callers that don't wait.
///
/// All three carry out the steps of the state machine `Call`. They decide only what depends on the process: on which
/// thread a call is counted, and whether this handle may use the file.
extension CircuitBreaker {
    // MARK: - Calls that run an operation

    /// Drives a call to its end on the calling thread; throws the error that the caller gets instead of a value.
    ///
    /// - Parameters:
    ///   - operation: makes the call, and stores its value.
    ///   - judge: judges the value that the operation has stored; nil for a success.
    ///   - fallback: sets the value that replaces an error.
    @usableFromInline
    func drive(
        _ begun: BegunCall, hasFallback: Bool, operation: () throws -> Void, judge: () -> Outcome?,
        fallback: (any Error) throws -> Void
    ) throws {
        var (call, input) = self.call(begun, hasFallback: hasFallback)
        while true {
            switch self.advance(&call, input) {
            case .run(let admission, _):
                let watch = self.newStopwatch()
                var thrown: (any Error)?
                do {
                    try operation()
                } catch {
                    thrown = error
                }
                input = self.ended(admission, thrown, judge, since: watch)
            // Never reached: without a task there is no time limit.
            case .awaitOperation: input = .operationEnded(elapsed: .zero)
            case .sleep(let delay):
                self.core.clock.block(for: delay)
                input = .slept(wasCancelled: false)
            case .replace(let error): return try fallback(error)
            case .done(.error(let error)): throw error
            case .done(.value), .done(.admitted): return
            }
        }
    }

    /// Drives a call of a task to its end, on the caller's actor; throws the error that the caller gets instead of a
    /// value.
    ///
    /// - Parameters:
    ///   - operation: makes the call, and stores its value.
    ///   - judge: judges the value that the operation has stored; nil for a success.
    ///   - fallback: sets the value that replaces an error.
    @usableFromInline
    func drive(
        _ begun: BegunCall, hasFallback: Bool, operation: () async throws -> Void, judge: () -> Outcome?,
        fallback: (any Error) async throws -> Void
    ) async throws {
        var (call, input) = self.call(begun, hasFallback: hasFallback)
        while true {
            switch await self.advance(&call, input) {
            case .run(let admission, let timeout):
                let watch = self.newStopwatch()
                var thrown: (any Error)?
                var isInTime = true
                do {
                    if let timeout {
                        isInTime = try await self.run(operation, within: timeout, &call)
                    } else {
                        try await operation()
                    }
                } catch {
                    thrown = error
                }
                input =
                    isInTime
                    ? self.ended(admission, thrown, judge, since: watch)
                    : .operationEnded(elapsed: self.elapsed(since: watch))
            // Never reached: `run(_:within:_:)` has got this step, and has waited.
            case .awaitOperation: input = .operationEnded(elapsed: .zero)
            case .sleep(let delay):
                do {
                    try await self.core.clock.host.sleep(for: delay)
                    input = .slept(wasCancelled: false)
                } catch {
                    input = .slept(wasCancelled: true)
                }
            case .replace(let error): return try await fallback(error)
            case .done(.error(let error)): throw error
            case .done(.value), .done(.admitted): return
            }
        }
    }

    /// Runs the operation of a task; at the deadline reports the time-out, then cancels the operation and waits for it.
    ///
    /// - Returns: whether the operation has ended in time.
    private func run(
        _ operation: () async throws -> Void, within timeout: Duration, _ call: inout Call
    ) async throws -> Bool {
        var timedOut = call
        func onDeadline() async {
            _ = await self.advance(&timedOut, self.timedOut(after: timeout))
        }
        let isInTime: Bool
        if let timer = self.core.timer {
            isInTime = try await TimedCall.run(operation, within: timeout, by: timer, onDeadline: onDeadline)
        } else {
            let clock = self.core.clock.host
            isInTime = try await TimedCall.run(operation, within: timeout, by: clock, onDeadline: onDeadline)
        }
        if !isInTime { call = timedOut }
        return isInTime
    }

    private func call(_ begun: BegunCall, hasFallback: Bool) -> (Call, Call.Input?) {
        let form = Call.Form.run(hasFallback: hasFallback)
        switch begun {
        case .new: return (Call(form, retry: self.policy.retry), nil)
        case .threw(let error, let admission):
            return (Call(form, admittedBy: admission), self.ended(admission, error, { nil }, since: nil))
        case .returned(let judged, let took, let admission):
            let outcome = (judged ?? .success).taking(took)
            return (Call(form, admittedBy: admission), self.ended(outcome))
        }
    }

    private func ended(
        _ admission: Admission, _ thrown: (any Error)?, _ judge: () -> Outcome?, since watch: ContinuousClock.Instant?
    ) -> Call.Input {
        let (elapsed, took) = (self.elapsed(since: watch), self.duration(of: admission))
        var outcome = thrown.map(self.outcome) ?? judge() ?? .success
        outcome.isThrown = thrown != nil
        return self.ended(outcome.taking(took), elapsed: elapsed)
    }

    func ended(_ outcome: Outcome, elapsed: Duration = .zero) -> Call.Input {
        .ended(outcome, self.facts(outcome), elapsed: elapsed)
    }

    private func timedOut(after timeout: Duration) -> Call.Input {
        // A time-out is a failure whatever `classify` would say: the library itself cancels the operation.
        let outcome = Outcome(
            verdict: .failure, error: CallTimeoutError(name: self.name, timeout: timeout), isThrown: true,
            duration: timeout.saturatingMicroseconds)
        return .timedOut(outcome, self.facts(outcome))
    }

    // MARK: - Each call

    /// Drives a call to its next step in the user's code; commits on the calling thread.
    func advance(_ call: inout Call, _ input: Call.Input?) -> Call.UserStep {
        var step = input.map { call.next($0) } ?? call.step
        while true {
            switch step {
            case .immediate(let immediate): step = call.next(self.carryOut(immediate))
            case .change(let change): step = call.next(self.make(change))
            case .count(let pending): step = call.next(.counted(self.count(pending)))
            case .user(let step): return step
            }
        }
    }

    /// Drives a call to its next step in the user's code; the task is suspended during commits.
    func advance(_ call: inout Call, _ input: Call.Input?) async -> Call.UserStep {
        var step = input.map { call.next($0) } ?? call.step
        while true {
            switch step {
            case .immediate(let immediate): step = call.next(self.carryOut(immediate))
            case .change(let change): step = call.next(await self.make(change))
            case .count(let pending):
                let late = call.unattended
                step = call.next(.counted(await self.count(pending) { self.advanceLater(late, .counted($0)) }))
            case .user(let step): return step
            }
        }
    }

    /// Drives the report of a call to its end without waiting: the threads that commit and count continue it.
    func advanceLater(_ call: Call, _ input: Call.Input) {
        var call = call
        var step = call.next(input)
        while true {
            switch step {
            case .immediate(let immediate): step = call.next(self.carryOut(immediate))
            case .change where self.store.gate.isForked: step = call.next(.notCommitted)
            case .change(let change):
                let waiting = call
                return self.core.post(
                    until: self.store.deadline, then: { self.advanceLater(waiting, $0) },
                    orElse: { _ in self.advanceLater(waiting, .notCommitted) }, self.work(change))
            case .count(let pending):
                let waiting = call
                return self.core.countingJobs.run { self.advanceLater(waiting, .counted(self.count(pending))) }
            case .user: return
            }
        }
    }

    // MARK: - Changes

    private func make(_ change: Call.Change) -> Call.Input {
        do throws(BreakerStoreError) {
            return try self.core.commit(
                until: self.store.deadline, undoIfUnclaimed: self.releaseLateProbe, self.work(change))
        } catch {
            return .notCommitted
        }
    }

    private func make(_ change: Call.Change) async -> Call.Input {
        do throws(BreakerStoreError) {
            return try await self.core.commit(
                until: self.store.deadline, undoIfUnclaimed: self.releaseLateProbe, self.work(change))
        } catch {
            return .notCommitted
        }
    }

    /// The work of a change in a transaction; its value is the call's next input.
    private func work(_ change: Call.Change) -> StoreCore.Work<Call.Input> {
        let (core, circuit, name) = (self.core, self.circuit, self.name)
        let config = circuit.registeredConfig
        switch change {
        case .claim:
            let token = core.newProbeToken()
            return { (transaction) throws(BreakerStoreError) in
                let decision = try transaction.change(name, own: config, registers: true) { circuit, moment, _ in
                    circuit.callArrived(
                        at: moment, claiming: transaction.claim(token), isAlive: transaction.isAlive)
                }
                return decision.map { Call.Input($0, inMemory: false, uptime: transaction.uptime) } ?? .notCommitted
            }
        case .report(let report):
            return { (transaction) throws(BreakerStoreError) in
                try transaction.apply(report, to: name, registering: config)
                return .committed
            }
        case .trip(_, let epoch, let pending):
            let error = self.text(of: pending.outcome)
            return { (transaction) throws(BreakerStoreError) in
                try core.tripByRate(circuit, epoch: epoch, error: error, transaction)
                return .committed
            }
        }
    }

    /// Releases the slot of a probe that was admitted after its caller had given up.
    private func releaseLateProbe(_ input: Call.Input) {
        guard case .admitted(let admission) = input, admission.isProbe else { return }
        self.reportLater(.ignored, of: admission)
    }
}

extension Call.Input {
    /// - Parameter uptime: converts a store time to an uptime.
    init(
        _ decision: Circuit.Decision, inMemory isInMemory: Bool, lastError: String? = nil,
        uptime: (StoreTime) -> Uptime
    ) {
        switch decision {
        // The decision does not say whether there are failures to forget: as `closedConsecutive`, under any rule, a
        // success reads the circuit, and is reported only if there are some.
        case .proceed(let epoch):
            self = .admitted(Admission(isInMemory ? .closedInMemory : .closedConsecutive, epoch: epoch))
        case .probe(let token, let epoch):
            self = .admitted(Admission(isInMemory ? .probeInMemory : .probe, epoch: epoch, token: token))
        case .uncounted: self = .admitted(Admission(.uncounted))
        case .observe: self = .admitted(Admission(.observed))
        case .refuse(let cause, let until):
            self = .refused(cause, until: until.map(uptime), lastError: lastError)
        }
    }
}

extension Outcome {
    func taking(_ duration: Int64?) -> Outcome {
        guard let duration else { return self }
        var outcome = self
        outcome.duration = duration
        return outcome
    }
}

/// The steps that a call asks its driver to carry out, and the inputs with which the driver answers.
extension Call {
    enum Step: Sendable {
        /// Blocks for no longer than a read of microseconds; may run a closure of the policy. All drivers carry it out
        /// by the same function.
        case immediate(Immediate)
        /// A transaction, which may wait for the disk or another process.
        case change(Change)
        /// Count a failed or slow call on the board, which may wait for the file system.
        case count(PendingOutcome)
        /// The operation, a sleep, the fallback, or the end.
        case user(UserStep)
    }

    enum Immediate: Sendable {
        /// Read the cached decision.
        case readCache
        /// Read the circuit in the file.
        case read
        /// Ask the in-memory fallback.
        case readFallback
        /// Make and count a refusal; `until` is an uptime, nil if it is not known.
        case refuse(RefusalCause, until: Uptime?, lastError: String?)
        /// Prepare the operation; read the circuit first if a commit let the call through.
        case begin(Admission, readsFirst: Bool)
        /// Read in which state the circuit is now.
        case refresh(Admission)
        /// Count what takes only additions; make the report, and the text of a failure for the board.
        case settle(PendingOutcome)
        /// Record a committed report for the in-memory fallback, or apply to the fallback a report that could not be
        /// committed.
        case applyReport(OutcomeReport, ReportCommit)
        /// Trip the in-memory fallback: its calls have reached a rate.
        case tripFallback(Circuit.ReachedRate, PendingOutcome)
        /// Call the policy's `onOutcome`.
        case publish(CallOutcome.Result, Duration)
        /// Find out whether the policy and the circuit allow another attempt.
        case askToRetry(Outcome)
    }

    enum ReportCommit: Sendable {
        /// For a caller that waits: the circuit is read first, as the commit may have changed its state.
        case committed
        /// By a thread that commits for others, which does not read.
        case committedForOthers
        case notCommitted
    }

    enum Change: Sendable {
        /// Ask for admission in a transaction: as a probe, or because the circuit must be registered again.
        case claim
        case report(OutcomeReport)
        /// Trip the circuit if a failure rate is still reached.
        case trip(Circuit.ReachedRate, epoch: Epoch, PendingOutcome)
    }

    @usableFromInline
    enum UserStep: Sendable {
        /// Run the operation, which has a time limit or none.
        case run(Admission, timeout: Duration?)
        /// Wait for the end of an operation that has timed out.
        case awaitOperation
        case sleep(Duration)
        /// Run the fallback, which replaces the error by a value.
        case replace(any Error)
        case done(Result)
    }

    /// What the caller gets.
    @usableFromInline
    enum Result: Sendable {
        /// The outcome was reported; the caller gets the value, if there is one.
        case value
        /// The call was let through; the caller reports its outcome later.
        case admitted(Admission)
        case error(any Error)
    }

    enum Input: Sendable {
        /// The decision of the cache or the file, at this uptime; 0 if the decision never expires.
        ///
        /// `isStoreUsable`: after `readCache` whether this handle may use the file; after `read` whether the file can
        /// be written, too.
        case decision(CallDecision, at: Uptime, isStoreUsable: Bool)
        /// The file has no such circuit, or the row can't be read: only a commit can register or repair it.
        case unknown
        /// The file can't be read.
        case unusable
        case admitted(Admission)
        case refused(RefusalCause, until: Uptime?, lastError: String?)
        case refusal(CircuitOpenError)
        case begun(Admission, timeout: Duration?)
        /// The operation has ended, or the caller reports an outcome.
        case ended(Outcome, Facts, elapsed: Duration)
        case timedOut(Outcome, Facts)
        /// The operation that had timed out has ended.
        case operationEnded(elapsed: Duration)
        case refreshed(Refreshed)
        /// The report, if the file is to get one, and the text of the failure, if the board or the file is to get it.
        case settled(OutcomeReport?, PendingOutcome.ErrorText?)
        case committed
        case notCommitted
        case carriedOut
        /// The outcome was published; whether the caller's task is cancelled.
        case published(isCancelled: Bool)
        /// The rate that is reached, if this call must trip the circuit.
        case counted(Circuit.ReachedRate?)
        /// Whether another attempt may be made, and a random number in `0..<1` for its delay.
        case mayRetry(Bool, draw: Double)
        case slept(wasCancelled: Bool)
    }

    /// What this process knows of the circuit and the call when the call ends.
    struct Facts: Equatable, Sendable {
        var isSlow = false
        /// Whether a rule counts failed or slow calls among all calls.
        var hasRateRule = false
        /// Whether the board counts failures, which then have no rows.
        var hasFailureRateRule = false
    }

    /// What a read at the end of a call has found.
    struct Refreshed: Sendable {
        /// Nil if the file has no such circuit, or can't be read.
        var decision: CallDecision?
        /// Whether this handle may use the file.
        var mayUseFile: Bool
        var facts: Facts
        /// For how many microseconds the circuit stays open; nil if it is not open.
        var openTime: Int64? = nil
        /// The longest time that a provider may ask for.
        var outageCap: Int64 = .max

        /// Whether the circuit stays open until the end of the outage anyway, so that there is nothing to commit.
        func isOpen(untilEndOf outage: Outage?) -> Bool {
            guard let outage, let openTime else { return false }
            return min(outage.time ?? 0, self.outageCap) <= openTime.addingSaturating(Circuit.outageTolerance)
        }
    }
}

/// What a call asks its driver to do, and what the driver answers.
extension Call {
    enum Step: Sendable {
        /// Waits for nothing longer than a read of microseconds; may run a closure of the policy. All drivers carry it
        /// out by the same function.
        case immediate(Immediate)
        /// A transaction, which may wait for the disk or another process.
        case change(Change)
        /// Count a failed or slow call on the board, which may wait for the file system.
        case count(PendingOutcome)
        /// The operation, a sleep, the fallback, or the end.
        case user(UserStep)
    }

    enum Immediate: Sendable {
        /// Give the cached decision.
        case askCache
        /// Read the circuit in the file.
        case read
        /// Ask the in-memory fallback.
        case askMemory
        /// Make and count a refusal; the time is an uptime, nil if none is known.
        case refuse(RefusalCause, until: Int64?, lastError: String?)
        /// Prepare the operation; the circuit is to be read first if a commit has let the call through.
        case begin(Admission, readsFirst: Bool)
        /// Find out in which state the circuit is by now.
        case refresh(Admission)
        /// Count what takes only additions; make the report, and the text of a failure for the board.
        case settle(PendingOutcome)
        /// Note for memory that the report was committed, or else apply it to the circuit in memory; read the circuit
        /// first if the commit may have changed its state. A thread that commits for others does not read.
        case note(OutcomeReport, isCommitted: Bool, readsFirst: Bool)
        /// Open the circuit in memory: its calls have reached a rate.
        case tripMemory(Circuit.ReachedShare, PendingOutcome)
        /// Call the policy's `onOutcome`.
        case publish(CallOutcome.Result, Duration)
        /// Find out whether another attempt may be made.
        case askToRetry(Outcome)
    }

    enum Change: Sendable {
        /// Let the call through in a transaction: as a probe, or by a circuit that is registered again.
        case claim
        case report(OutcomeReport)
        /// Open the circuit if a failure rate is still reached.
        case trip(Circuit.ReachedShare, epoch: Int64, PendingOutcome)
    }

    @usableFromInline
    enum UserStep: Sendable {
        /// Run the operation, which has a time limit or none.
        case run(Admission, timeout: Duration?)
        /// Wait for the end of the operation, which has timed out.
        case awaitOperation
        case sleep(Duration)
        /// Give the caller what the fallback makes of the error.
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
        /// What the cache or the file says, at this uptime; 0 if the decision has no end.
        ///
        /// The store is unusable where this handle may not read the file, or the file can't be written.
        case decision(CallAnswer, at: Int64, isStoreUsable: Bool)
        /// The file has no such circuit, or can't read its row: only a commit can help.
        case unknown
        /// The file can't be read.
        case unusable
        case admitted(Admission)
        case refused(RefusalCause, until: Int64?, lastError: String?)
        case refusal(CircuitOpenError)
        case begun(Admission, timeout: Duration?)
        /// The operation has ended, or the caller reports its outcome.
        case ended(Outcome, Facts, elapsed: Duration)
        case timedOut(Outcome, Facts)
        /// The operation that had timed out has ended.
        case operationEnded(elapsed: Duration)
        case refreshed(Refreshed)
        /// The report, if the outcome makes one for the file, and the text of a failure, if the board or the file is to
        /// get it.
        case settled(OutcomeReport?, PendingOutcome.ErrorText?)
        case committed
        case notCommitted
        case carriedOut
        /// The outcome was published; whether the caller's task is cancelled.
        case published(isCancelled: Bool)
        /// The rate that is reached, if the caller must trip the circuit itself.
        case counted(Circuit.ReachedShare?)
        /// Whether another attempt may be made, and a random number in `0..<1` for its delay.
        case mayRetry(Bool, draw: Double)
        case slept(wasCancelled: Bool)
    }

    /// What this process knows of the circuit when a call ends.
    struct Facts: Equatable, Sendable {
        var isSlow = false
        /// Whether a rule counts failed or slow calls among all calls.
        var hasRateRule = false
        /// Whether the board counts failures, which then have no rows.
        var countsFailures = false
    }

    /// What a read says when a call ends.
    struct Refreshed: Sendable {
        /// Nil if the file has no such circuit, or can't be read.
        var decision: CallAnswer?
        /// Whether this handle may use the file.
        var mayUseFile: Bool
        var facts: Facts
    }
}

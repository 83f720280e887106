/// How this process makes its calls: timeout, retries, and what an error means; not stored in the file.
///
/// ```swift
/// var policy = CallPolicy(timeout: .seconds(2))
/// policy.classify = { error in
///     // The service answered, so a bad request says nothing bad about it.
///     if let error = error as? HTTPError, error.status < 500 { return .success }
///     return CallPolicy().classify(error)
/// }
/// let users = try store.breaker(.init(name: "users"), calls: policy)
/// ```
public struct CallPolicy: Sendable {
    /// How long an async call may take: above zero, at most the probes' lease.
    ///
    /// At the deadline the failure is committed and the operation cancelled; `run` throws ``CallTimeoutError`` once the
    /// operation has ended. Another process may have made the stored lease shorter: a probe whose lease does not
    /// outlast the timeout gets nine tenths of the lease as its timeout. Synchronous calls have no timeout. The default
    /// is nil.
    public var timeout: Duration? = nil

    /// How a failed call is made again.
    ///
    /// Each attempt is one call to the circuit. The retries stop when the circuit opens. The default is nil.
    public var retry: RetryRule? = nil

    /// Which errors are worth another attempt, if `retry` has one left; called on the caller's thread.
    ///
    /// Not called once the caller's task is cancelled, nor when this circuit itself refused the call. A refusal by
    /// another circuit, which the operation has thrown, is an error like others here. The default is true for every
    /// error that the circuit counts as a failure.
    public var retryIf: @Sendable (any Error) -> Bool {
        get { self.ownRetryIf ?? { [classify] in classify($0).isFailure } }
        set { self.ownRetryIf = newValue }
    }

    /// Nil for the default.
    private(set) var ownRetryIf: (@Sendable (any Error) -> Bool)?

    /// What an operation's error means for the circuit; called on the caller's thread.
    ///
    /// The default ignores ``CircuitOpenError``, which the operation throws if another circuit refused a call that it
    /// made: such an error says nothing about this circuit's service. It ignores `CancellationError`, too, and every
    /// error once the caller's task is cancelled. All other errors are failures. A `classify` of your own keeps these
    /// rules with `default: CallPolicy().classify(error)`.
    public var classify: @Sendable (any Error) -> Verdict = { error in
        error is CircuitOpenError || Cancellation.hasCaused(error) ? .ignored : .failure
    }

    /// Whether the durations of calls are counted in ``CallTotals/durations``; each call then reads the clock twice.
    ///
    /// Calls through a circuit with a slow rule are measured and counted anyway. The default is false.
    public var measuresDurations = false

    /// The text that is stored for an error, cut at 500 characters; called on the caller's thread.
    ///
    /// Every process of the host can read the text: leave out secrets. The default is the name of the error's type. Not
    /// called for a value that `failingWhen` counts as a failure: then the name of the value's type is stored.
    public var describe: @Sendable (any Error) -> String = { TypeNames.name(of: type(of: $0)) }

    /// Called once for each call, for metrics, on the caller's thread; nil costs a branch.
    ///
    /// With retries, called once for each attempt. The default is nil.
    public var onOutcome: (@Sendable (CallOutcome) -> Void)? = nil

    /// Creates a policy with the defaults.
    public init() {}

    /// Creates a policy with these values in place of the defaults.
    public init(
        timeout: Duration? = nil,
        retry: RetryRule? = nil,
        classify: (@Sendable (any Error) -> Verdict)? = nil,
        describe: (@Sendable (any Error) -> String)? = nil
    ) {
        self.timeout = timeout
        self.retry = retry
        if let classify { self.classify = classify }
        if let describe { self.describe = describe }
    }

    func validate(for config: CircuitBreaker.Config) throws(BreakerStoreError) {
        if let timeout = self.timeout {
            try Validation.duration(timeout, "timeout")
            guard timeout.saturatingMicroseconds <= config.probes.lease.saturatingMicroseconds else {
                throw Validation.error(
                    "timeout", timeout.readable, allowed: "at most the probes' lease, \(config.probes.lease.readable)")
            }
        }
        try self.retry?.validate()
    }
}

import BreakerStore
import FoundationEssentials
import Testing

/// Uses each public declaration of the value types as another module would: names, labels, types and defaults.
///
/// What is renamed or typed otherwise doesn't compile here; what has another default fails. The switches name each case
/// and no `default`.
@Suite struct ValueContract {
    private func conforms<T>(_ type: T.Type) where T: Sendable {}
    private func conformsHashable<T>(_ type: T.Type) where T: Sendable & Hashable {}
    private func conformsCodable<T>(_ type: T.Type) where T: Sendable & Hashable & Codable {}
    private func conformsError<T>(_ type: T.Type) where T: Error & Sendable & CustomStringConvertible {}

    @Test func conformances() {
        self.conforms(CallPolicy.self)
        self.conforms(CallOutcome.self)
        self.conforms(StoreHealth.self)
        self.conforms(CircuitStore.Configuration.self)
        self.conforms(CallTimeoutError.self)
        self.conformsHashable(RetryRule.self)
        self.conformsHashable(Verdict.self)
        self.conformsHashable(CallOutcome.Result.self)
        self.conformsHashable(CircuitState.self)
        self.conformsHashable(CircuitSnapshot.Probe.self)
        self.conformsHashable(CircuitSnapshot.Hold.self)
        self.conformsHashable(CircuitSnapshot.self)
        self.conformsHashable(CircuitEvent.self)
        self.conformsHashable(WorkerSnapshot.self)
        self.conformsHashable(Durability.self)
        self.conformsHashable(WhenUnavailable.self)
        self.conformsHashable(Access.self)
        self.conformsHashable(BreakerStoreError.Code.self)
        self.conformsCodable(CircuitBreaker.Config.self)
        self.conformsCodable(TripRule.self)
        self.conformsCodable(RecoveryRule.self)
        self.conformsCodable(ProbeRule.self)
        self.conformsCodable(HoldState.self)
        self.conformsCodable(RefusalCause.self)
        self.conformsCodable(CircuitEvent.Kind.self)
        self.conformsError(CircuitOpenError.self)
        self.conformsError(BreakerStoreError.self)
        let _: any Error.Type = CallTimeoutError.self
        let _: CircuitSnapshot.ID.Type = String.self
        let _: CircuitEvent.ID.Type = Int64.self
        let _: WorkerSnapshot.ID.Type = Int64.self
    }

    @Test func rules() {
        let failures: (Int, Duration) -> TripRule = TripRule.failures(_:within:)
        let inARow: (Int) -> TripRule = TripRule.consecutiveFailures(_:)
        #expect(failures(5, .seconds(60)) == .failures(5, within: .seconds(60)))
        #expect(inARow(5) == .consecutiveFailures(5))

        let _: (Duration, Double, Duration, Double, Duration) -> RecoveryRule =
            RecoveryRule.init(timeout:multiplier:cap:jitter:outageCap:)
        let _: WritableKeyPath<RecoveryRule, Duration> = \.timeout
        let _: WritableKeyPath<RecoveryRule, Double> = \.multiplier
        let _: WritableKeyPath<RecoveryRule, Duration> = \.cap
        let _: WritableKeyPath<RecoveryRule, Double> = \.jitter
        let _: WritableKeyPath<RecoveryRule, Duration> = \.outageCap
        #expect(
            RecoveryRule()
                == RecoveryRule(
                    timeout: .seconds(30), multiplier: 1, cap: .seconds(600), jitter: 0, outageCap: .seconds(86_400)))

        let _: (Int, Int, Duration, Int, Double) -> ProbeRule =
            ProbeRule.init(limit:successesToClose:lease:growth:toleratedShare:)
        let _: WritableKeyPath<ProbeRule, Int> = \.limit
        let _: WritableKeyPath<ProbeRule, Int> = \.successesToClose
        let _: WritableKeyPath<ProbeRule, Duration> = \.lease
        let _: WritableKeyPath<ProbeRule, Int> = \.growth
        let _: WritableKeyPath<ProbeRule, Double> = \.toleratedShare
        #expect(
            ProbeRule()
                == ProbeRule(limit: 1, successesToClose: 1, lease: .seconds(30), growth: 1, toleratedShare: 0))

        let _: (Int, Duration, Double) -> RetryRule = RetryRule.constant(maxRetries:delay:jitter:)
        let _: (Int, Duration, Double, Duration, Double) -> RetryRule =
            RetryRule.exponential(maxRetries:delay:multiplier:cap:jitter:)
        #expect(
            RetryRule.constant(maxRetries: 1, delay: .seconds(1))
                == .constant(maxRetries: 1, delay: .seconds(1), jitter: 0))
        #expect(
            RetryRule.exponential(maxRetries: 1, delay: .seconds(1))
                == .exponential(maxRetries: 1, delay: .seconds(1), multiplier: 2, cap: .seconds(60), jitter: 0))
    }

    @Test func config() {
        let _:
            (String, String?, TripRule, SlowCallRule?, RecoveryRule, ProbeRule, Int, CircuitMode) ->
                CircuitBreaker
                .Config = CircuitBreaker.Config.init(name:group:trip:slow:recovery:probes:minimumReporters:mode:)
        let _: (String, String?, Duration, Int, Duration) -> CircuitBreaker.Config =
            CircuitBreaker.Config.init(name:group:recoveryTimeout:maxFailures:rollingWindow:)
        let _: WritableKeyPath<CircuitBreaker.Config, String> = \.name
        let _: WritableKeyPath<CircuitBreaker.Config, String?> = \.group
        let _: WritableKeyPath<CircuitBreaker.Config, TripRule> = \.trip
        let _: WritableKeyPath<CircuitBreaker.Config, SlowCallRule?> = \.slow
        let _: WritableKeyPath<CircuitBreaker.Config, CircuitMode> = \.mode
        let _: WritableKeyPath<CircuitBreaker.Config, RecoveryRule> = \.recovery
        let _: WritableKeyPath<CircuitBreaker.Config, ProbeRule> = \.probes
        let _: WritableKeyPath<CircuitBreaker.Config, Int> = \.minimumReporters
        let standard = CircuitBreaker.Config(
            name: "a", group: nil, trip: .failures(5, within: .seconds(60)), slow: nil, recovery: RecoveryRule(),
            probes: ProbeRule(), minimumReporters: 1, mode: .enforcing)
        #expect(CircuitBreaker.Config(name: "a") == standard)
        let short = CircuitBreaker.Config(
            name: "a", recoveryTimeout: .seconds(30), maxFailures: 5, rollingWindow: .seconds(60))
        #expect(short == standard)
    }

    @Test func policy() {
        let policy = CallPolicy()
        let _: WritableKeyPath<CallPolicy, Duration?> = \.timeout
        let _: WritableKeyPath<CallPolicy, RetryRule?> = \.retry
        let classify: @Sendable (any Error) -> Verdict = policy.classify
        let describe: @Sendable (any Error) -> String = policy.describe
        let retryIf: @Sendable (any Error) -> Bool = policy.retryIf
        _ = (
            retryIf, CallPolicy(timeout: nil, retry: nil, classify: nil, describe: nil),
            CallPolicy(timeout: .seconds(1))
        )
        let onOutcome: (@Sendable (CallOutcome) -> Void)? = policy.onOutcome
        var changed = policy
        changed.classify = classify
        changed.describe = describe
        changed.onOutcome = onOutcome
        #expect(policy.timeout == nil)
        #expect(policy.retry == nil)
        #expect(onOutcome == nil)
        #expect(classify(CancellationError()) == .ignored)

        let _: KeyPath<CallOutcome, String> = \.circuit
        let _: KeyPath<CallOutcome, CallOutcome.Result> = \.result
        let _: KeyPath<CallOutcome, Duration> = \.duration
    }

    @Test func configuration() {
        var configuration = CircuitStore.Configuration()
        let _: WritableKeyPath<CircuitStore.Configuration, Duration> = \.busyTimeout
        let _: WritableKeyPath<CircuitStore.Configuration, Durability> = \.durability
        let _: WritableKeyPath<CircuitStore.Configuration, WhenUnavailable> = \.whenUnavailable
        let _: WritableKeyPath<CircuitStore.Configuration, Access> = \.access
        let _: WritableKeyPath<CircuitStore.Configuration, UInt16> = \.fileMode
        let _: WritableKeyPath<CircuitStore.Configuration, Int> = \.eventsKept
        let _: WritableKeyPath<CircuitStore.Configuration, Duration?> = \.forgetIdleAfter
        let _: WritableKeyPath<CircuitStore.Configuration, String?> = \.workerName
        let _: WritableKeyPath<CircuitStore.Configuration, any HostClock> = \.clock
        let onEvent: (@Sendable (CircuitEvent) -> Void)? = configuration.onEvent
        configuration.onEvent = onEvent
        #expect(configuration.busyTimeout == .milliseconds(250))
        #expect(configuration.durability == .transitions)
        #expect(configuration.whenUnavailable == .throwError)
        #expect(configuration.access == .readWrite)
        #expect(configuration.fileMode == 0o600)
        #expect(configuration.eventsKept == 1_000)
        #expect(configuration.forgetIdleAfter == nil)
        #expect(configuration.workerName == nil)
        #expect(onEvent == nil)
        #expect(configuration.clock is SystemHostClock)
    }

    @Test func words() {
        #expect(HoldState.open.rawValue == "open")
        #expect(HoldState.closed.rawValue == "closed")
        #expect(RefusalCause.open.rawValue == "open")
        #expect(RefusalCause.probing.rawValue == "probing")
        #expect(RefusalCause.held.rawValue == "held")
        #expect(CircuitEvent.Kind(rawValue: "ofALaterVersion").rawValue == "ofALaterVersion")
        let kinds: [CircuitEvent.Kind] = [
            .configured, .tripped, .probing, .probeExpired, .reopened, .closed, .reset, .held, .released, .forgotten,
            .degraded, .restored, .quarantined, .created, .stateRestored, .missed,
        ]
        #expect(
            kinds.map(\.rawValue) == [
                "configured", "tripped", "probing", "probeExpired", "reopened", "closed", "reset", "held", "released",
                "forgotten", "degraded", "restored", "quarantined", "created", "stateRestored", "missed",
            ])
    }

    @Test func codes() {
        let codes: [BreakerStoreError.Code] = [
            .invalidConfiguration, .notAStore, .newerSchema, .foreignSchema, .unsupportedFileSystem, .unsafePath,
            .notFound,
            .permissionDenied, .busy, .full, .corrupt, .unavailable, .noSuchCircuit, .inUse, .closed, .forked,
            .readOnly, .olderSchema,
        ]
        #expect(Set(codes).count == 18)
    }

    @Test func clocks() {
        let _: KeyPath<any HostClock, String> = \.bootID
        let _: KeyPath<any HostClock, Duration> = \.uptime
        let _: KeyPath<any HostClock, Date> = \.wallTime
        let system: any HostClock = SystemHostClock()
        #expect(system.uptime > .zero)
        let manual = ManualHostClock()
        let _: any HostClock = manual
        let _: (Duration) async throws -> Void = manual.sleep(for:)
        let _: (Duration) async throws -> Void = system.sleep(for:)
        let _: (Int) async -> Void = manual.waitForSleepers(_:)
        let before: (String, Duration, Date) = (manual.bootID, manual.uptime, manual.wallTime)
        manual.advance(by: .seconds(1))
        manual.stepWallTime(by: .seconds(1))
        manual.reboot(downFor: .seconds(1))
        #expect(manual.bootID != before.0)
        #expect(manual.uptime < before.1)
        #expect(manual.wallTime == before.2.addingTimeInterval(3))
    }
}

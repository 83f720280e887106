import BreakerStore
import FoundationEssentials

/// The contract of what can be seen, by types alone: only the library makes these values.
enum SnapshotContract {
    static func circuit() {
        let _: WritableKeyPath<CircuitSnapshot.Probe, WorkerSnapshot.ID> = \.worker
        let _: WritableKeyPath<CircuitSnapshot.Probe, Date> = \.since
        let _: WritableKeyPath<CircuitSnapshot.Probe, Date> = \.leaseEnds
        let _: WritableKeyPath<CircuitSnapshot.Hold, HoldState> = \.state
        let _: WritableKeyPath<CircuitSnapshot.Hold, Date> = \.since
        let _: WritableKeyPath<CircuitSnapshot.Hold, Date?> = \.until
        let _: WritableKeyPath<CircuitSnapshot.Hold, String?> = \.by
        let _: WritableKeyPath<CircuitSnapshot.Hold, String?> = \.reason
        let _: KeyPath<CircuitSnapshot, String> = \.id
        let _: WritableKeyPath<CircuitSnapshot, String> = \.name
        let _: WritableKeyPath<CircuitSnapshot, CircuitBreaker.Config> = \.config
        let _: WritableKeyPath<CircuitSnapshot, CircuitState> = \.state
        let _: WritableKeyPath<CircuitSnapshot, Date> = \.since
        let _: WritableKeyPath<CircuitSnapshot, Int64> = \.epoch
        let _: WritableKeyPath<CircuitSnapshot, [Date]> = \.failures
        let _: WritableKeyPath<CircuitSnapshot, Int> = \.tripsInARow
        let _: WritableKeyPath<CircuitSnapshot, [CircuitSnapshot.Probe]> = \.probes
        let _: WritableKeyPath<CircuitSnapshot, CircuitSnapshot.Hold?> = \.hold
        let _: WritableKeyPath<CircuitSnapshot, String?> = \.lastError
        let _: WritableKeyPath<CircuitSnapshot, Int> = \.workers
        let _: WritableKeyPath<CircuitSnapshot, Int> = \.failureCount
        let _: WritableKeyPath<CircuitSnapshot, Int> = \.refusals
        let _: WritableKeyPath<CircuitSnapshot, CircuitState?> = \.beneath
        let _: WritableKeyPath<CircuitSnapshot, Date?> = \.trippedSince
        _ = CircuitSnapshot(
            name: "a", config: .init(name: "a"), state: .closed, since: Date(), epoch: 1, beneath: nil, failures: [],
            failureCount: 0, tripsInARow: 0, probes: [], hold: nil, lastError: nil, refusals: 0, workers: 0,
            trippedSince: nil, totals: CallTotals(), recent: nil)
        let _: WritableKeyPath<CircuitSnapshot, CallTotals> = \.totals
        let _: WritableKeyPath<CircuitSnapshot, CallRates?> = \.recent
        let _: WritableKeyPath<CallTotals, UInt64> = \.succeeded
        let _: WritableKeyPath<CallTotals, CallTotals.Durations?> = \.durations
        _ = CallTotals(
            succeeded: 0, failed: 0, slow: 0, ignored: 0, refused: 0,
            durations: .init(bounds: [.seconds(1)], counts: [1, 0], sum: .zero))
        let rates: some Hashable & Sendable = CallRates(
            calls: 0, failed: 0, window: .zero, slow: 0, slowCalls: 0, slowWindow: nil)
        _ = (rates, CallRates(calls: 0, failed: 0, window: .zero))
        _ = CircuitSnapshot(name: "a", config: .init(name: "a"), since: Date())
    }

    static func facts() {
        let _: WritableKeyPath<StoreFacts, String> = \.schemaVersion
        let _: WritableKeyPath<StoreFacts, String> = \.sqliteVersion
        let _: WritableKeyPath<StoreFacts, String> = \.libraryVersion
        let _: WritableKeyPath<StoreFacts, Int64> = \.fileSize
        let _: WritableKeyPath<StoreFacts, Int> = \.circuitCount
        let _: WritableKeyPath<StoreFacts, [String]> = \.unreadable
        let facts: some Hashable & Sendable = StoreFacts(
            schemaVersion: "1.0", sqliteVersion: "3", libraryVersion: "0", fileSize: 0, circuitCount: 0, unreadable: [],
            countsPrivately: false)
        let _: WritableKeyPath<StoreFacts, Bool> = \.countsPrivately
        _ = (facts, StoreFacts(schemaVersion: "1.0", sqliteVersion: "3", libraryVersion: "0"))
    }

    static func eventAndWorker() {
        let _: WritableKeyPath<CircuitEvent, Int64> = \.id
        let _: WritableKeyPath<CircuitEvent, String?> = \.circuit
        let _: WritableKeyPath<CircuitEvent, CircuitEvent.Kind> = \.kind
        let _: WritableKeyPath<CircuitEvent, Date> = \.at
        let _: WritableKeyPath<CircuitEvent, String?> = \.from
        let _: WritableKeyPath<CircuitEvent, String?> = \.to
        let _: WritableKeyPath<CircuitEvent, String?> = \.reason
        let _: WritableKeyPath<CircuitEvent, String?> = \.worker
        let _: WritableKeyPath<CircuitEvent, Int32?> = \.pid
        let _: WritableKeyPath<CircuitEvent, String?> = \.by
        let _: WritableKeyPath<CircuitEvent, Bool> = \.isOwn
        let _: WritableKeyPath<WorkerSnapshot, Int64> = \.id
        let _: WritableKeyPath<WorkerSnapshot, String> = \.name
        let _: WritableKeyPath<WorkerSnapshot, Int32> = \.pid
        let _: WritableKeyPath<WorkerSnapshot, Date> = \.since
        let _: WritableKeyPath<WorkerSnapshot, [String]> = \.probing
    }

    static func errors() {
        let _: WritableKeyPath<CircuitOpenError, String> = \.name
        let _: WritableKeyPath<CircuitOpenError, String?> = \.group
        let _: WritableKeyPath<CircuitOpenError, RefusalCause> = \.cause
        let _: WritableKeyPath<CircuitOpenError, Duration?> = \.retryAfter
        let _: WritableKeyPath<CircuitOpenError, String?> = \.lastError
        let _: WritableKeyPath<CircuitOpenError, CircuitSnapshot.Hold?> = \.hold
        _ = CircuitOpenError(name: "a", group: nil, cause: .held, retryAfter: nil, lastError: nil, hold: nil)
        let _: KeyPath<CircuitOpenError, String> = \.description
        let _: WritableKeyPath<CallTimeoutError, String> = \.name
        let _: WritableKeyPath<CallTimeoutError, Duration> = \.timeout
        let _: WritableKeyPath<BreakerStoreError, BreakerStoreError.Code> = \.code
        let _: WritableKeyPath<BreakerStoreError, String> = \.message
        let _: WritableKeyPath<BreakerStoreError, String?> = \.advice
        let _: WritableKeyPath<BreakerStoreError, Int32?> = \.sqliteCode
        let _: WritableKeyPath<BreakerStoreError, String?> = \.path
        let _: KeyPath<BreakerStoreError, String> = \.description
    }

    static func cases(
        state: CircuitState, hold: HoldState, cause: RefusalCause, health: StoreHealth, verdict: Verdict,
        result: CallOutcome.Result, durability: Durability, unavailable: WhenUnavailable, access: Access
    ) {
        switch state {
        case .closed, .halfOpen: break
        case .open(let until): let _: Date = until
        case .held(let hold, let until): let _: (HoldState, Date?) = (hold, until)
        }
        let _: (Date) -> CircuitState = CircuitState.open(until:)
        let _: (HoldState, Date?) -> CircuitState = CircuitState.held(_:until:)
        switch health {
        case .healthy, .closed: break
        case .degraded(let since, let error): let _: (Date, BreakerStoreError) = (since, error)
        }
        let _: (Date, BreakerStoreError) -> StoreHealth = StoreHealth.degraded(since:error:)
        switch hold {
        case .open, .closed: break
        }
        switch cause {
        case .open, .probing, .held: break
        }
        switch verdict {
        case .failure, .success, .ignored: break
        case .outage(let time): let _: Duration? = time
        }
        let _: (Duration?) -> Verdict = Verdict.outage(for:)
        switch result {
        case .succeeded, .failed, .ignored, .refused: break
        }
        switch durability {
        case .transitions, .everyCommit, .processCrash: break
        }
        switch unavailable {
        case .throwError, .degrade: break
        }
        switch access {
        case .readWrite, .existing, .readOnly: break
        }
    }
}

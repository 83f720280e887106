import BreakerStore
import BreakerTestSupport

/// Keeps what `onOutcome` told.
final class OutcomeLog: Sendable {
    private let outcomes = Locked<[CallOutcome]>([])

    var results: [CallOutcome.Result] { self.outcomes.withLock { $0.map(\.result) } }
    var circuits: Set<String> { self.outcomes.withLock { Set($0.map(\.circuit)) } }
    var durations: [Duration] { self.outcomes.withLock { $0.map(\.duration) } }
    var shortest: Duration? { self.outcomes.withLock { $0.map(\.duration).min() } }

    func add(_ outcome: CallOutcome) { self.outcomes.withLock { $0.append(outcome) } }
}

import BreakerStore
import BreakerStoreJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The metrics of one circuit.
struct CircuitMetrics {
    /// The labels of all series of the circuit.
    let labels: String
    let name: String
    let standing: Standing
    let totals: CallTotals
    let countsSlowCalls: Bool
    let failures: UInt64
    /// How long the circuit still refuses calls, if known.
    let retryIn: Duration?
    /// For how long an operator has held the circuit, and who; nil without a hold.
    let hold: (age: Duration, by: String)?
    /// How many events of each kind there were.
    var events: [(kind: String, count: UInt64)] = []
    let tripsWithinHour: Int
    /// How many calls outages have hurt, until the newest change of state that the file has.
    private var hurt = CircuitSnapshot.Hurt()
    /// How many calls the current outage has hurt; nil without one, and where unknown.
    private let hurtNow: CircuitSnapshot.Hurt?

    /// Copies the facts that the metrics need.
    ///
    /// - Parameter store: the label of the circuit's store.
    init(_ circuit: InspectedCircuit, of store: String) {
        let snapshot = circuit.snapshot
        self.labels =
            "\(store),\(MetricLines.label("circuit", snapshot.name)),"
            + MetricLines.label("group", snapshot.config.group ?? "")
        self.name = snapshot.name
        self.standing = snapshot.standing
        self.totals = snapshot.totals
        self.countsSlowCalls = snapshot.config.slow != nil || snapshot.totals.slow > 0
        let hasRateRule = snapshot.config.trip.share != nil
        self.failures = hasRateRule ? snapshot.recent?.failed ?? 0 : UInt64(clamping: snapshot.failureCount)
        let refuses = !snapshot.standing.isObserving
        self.tripsWithinHour = circuit.tripsWithinHour
        self.hurtNow = snapshot.hurt
        self.retryIn = (refuses ? snapshot.retryAt : nil).map { max(.zero, $0.since(circuit.now)) }
        self.hold = snapshot.hold.map { (max(.zero, circuit.now.since($0.since)), $0.by ?? "") }
    }

    mutating func take(_ events: [(kind: CircuitEvent.Kind, count: Int64)]) {
        for event in events {
            let count = UInt64(clamping: event.count)
            switch OutageSum(rawValue: event.kind.rawValue) {
            case .failed: self.hurt.failed = count
            case .refused: self.hurt.refused = count
            case nil: break
            }
        }
        self.events = events.map { (kind: $0.kind.rawValue, count: UInt64(clamping: $0.count)) }
            // Another program may have written any text into the file.
            .filter { $0.kind.utf8.count <= 32 && $0.kind.utf8.allSatisfy { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A } }
    }

    static let families: [MetricFamily<CircuitMetrics>] = [
        .init(
            "breaker_calls_total", .counter,
            "Calls of all processes, by outcome; refused ones ran only where a circuit observes"
        ) {
            $1.add($0.totals.succeeded, #"result="succeeded""#)
            $1.add($0.totals.failed, #"result="failed""#)
            $1.add($0.totals.ignored, #"result="ignored""#)
            $1.add($0.totals.refused, #"result="refused""#)
        },
        .init("breaker_slow_calls_total", .counter, "Calls that were slow by the circuit's rule; absent without a rule")
        {
            if $0.countsSlowCalls { $1.add($0.totals.slow) }
        },
        .init("breaker_call_duration_seconds", .histogram, "How long calls took, where that is measured") {
            guard let durations = $0.totals.durations else { return }
            // The file may have any numbers, whose sum may overflow.
            var sum: UInt64 = 0
            for (place, count) in durations.counts.enumerated() {
                let (more, overflow) = sum.addingReportingOverflow(count)
                sum = overflow ? .max : more
                let bound = place < durations.bounds.count ? durations.bounds[place] : nil
                let word = bound.map { MetricLines.number($0 / .seconds(1)) } ?? "+Inf"
                $1.add(sum, suffix: "_bucket", "le=\"\(word)\"")
            }
            $1.add(seconds: durations.sum / .seconds(1), suffix: "_sum")
            $1.add(sum, suffix: "_count")
        },
        .init("breaker_state", .gauge, "The circuit's state: 1 for the one that it is in, 0 for the others") {
            for word in StateWord.allCases { $1.add(word == $0.standing.word ? 1 : 0, "state=\"\(word.rawValue)\"") }
        },
        .init("breaker_observing", .gauge, "1 for a circuit that refuses nothing, whatever its state") {
            if $0.standing.isObserving { $1.add(1) }
        },
        .init("breaker_due", .gauge, "1 for an open circuit whose recovery time is over: it refuses nobody") {
            if $0.standing.isDue { $1.add(1) }
        },
        .init("breaker_failures", .gauge, "Failures that count towards a trip") { $1.add($0.failures) },
        .init("breaker_retry_in_seconds", .gauge, "How long calls are still refused, where that is known") {
            if let retryIn = $0.retryIn { $1.add(seconds: retryIn / .seconds(1)) }
        },
        .init(
            "breaker_hold_age_seconds", .gauge, "For how long an operator has held the circuit; absent without a hold"
        ) {
            guard let hold = $0.hold else { return }
            $1.add(seconds: hold.age / .seconds(1), MetricLines.label("by", hold.by))
        },
        .init("breaker_outage_calls_total", .counter, "Calls that failed or were refused in outages of the circuit") {
            $1.add($0.hurt.failed, #"result="failed""#)
            $1.add($0.hurt.refused, #"result="refused""#)
        },
        // Not added to the counter above: the rest falls if counts are lost, which Prometheus would take for a reset.
        .init(
            "breaker_current_outage_calls", .gauge,
            "Calls that failed or were refused in the current outage until now; absent without one"
        ) {
            guard let hurt = $0.hurtNow else { return }
            $1.add(hurt.failed, #"result="failed""#)
            $1.add(hurt.refused, #"result="refused""#)
        },
        .init("breaker_trips_within_hour", .gauge, "Trips of the circuit within the last hour") {
            $1.add(UInt64(clamping: $0.tripsWithinHour))
        },
        .init("breaker_transitions_total", .counter, "Events of the circuit, by the kinds of the history") {
            // Prometheus counts the first trip as an increase only if there was a 0 before it.
            let tripped = CircuitEvent.Kind.tripped.rawValue
            if !$0.events.contains(where: { $0.kind == tripped }) { $1.add(0, "kind=\"\(tripped)\"") }
            for event in $0.events { $1.add(event.count, "kind=\"\(event.kind)\"") }
        },
    ]
}

import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The counts of a circuit.
extension CircuitDetail {
    var counted: [(label: String, lines: [String])] {
        let totals = self.circuit.totals
        var fields: [(label: String, lines: [String])] = []
        if let share = self.share {
            fields.append(("share", [share]))
        } else {
            fields.append(("failures", self.failures))
        }
        if let slow = self.slow { fields.append(("slow", [slow])) }
        fields.append(("calls", [totals.readable(includingSlow: self.circuit.config.slow != nil)]))
        if let quantiles = totals.durations?.quantiles { fields.append(("durations", [quantiles])) }
        return fields
    }

    /// The recent calls, compared with a failure-rate rule.
    private var share: String? {
        let trip = self.circuit.config.trip
        guard let recent = self.circuit.recent, let share = trip.share, let least = trip.minimumCalls else {
            return nil
        }
        return "\(Self.part(recent.failed, of: recent.calls)) failed within \(recent.window.readable); "
            + "trips at \(CallRate.percent(share)) of at least \(least)"
    }

    /// The recent calls, compared with a slow-call rule.
    private var slow: String? {
        guard let recent = self.circuit.recent, let rule = self.circuit.config.slow else { return nil }
        return "\(Self.part(recent.slow, of: recent.slowCalls)) took longer than \(rule.threshold.readable) within "
            + "\(rule.window.readable); trips at \(CallRate.percent(rule.share)) of at least \(rule.minimumCalls)"
    }

    private static func part(_ part: UInt64, of calls: UInt64) -> String {
        let whole = "\(part) of \(calls.counted("call"))"
        return calls == 0 ? whole : "\(whole) (\(CallRate.percent(Double(part) / Double(calls))))"
    }

    private var failures: [String] {
        let state = self.circuit.unheldState
        guard !state.isClosed, let begun = self.circuit.trippedSince, let failures = self.inspected.tripFailures else {
            return self.lines(of: self.circuit.failures, endingAt: self.now) { "\($0) ago to now" }
        }
        // If the provider declared an outage, the circuit tripped with fewer failures, or none.
        var lines = self.lines(of: failures, endingAt: begun) { "the \($0) before the trip" }
        lines[0] += ", when it tripped"
        return failures.isEmpty ? [lines[0]] : lines
    }

    private func lines(
        of failures: [Date], endingAt end: Date, describing describe: (_ window: String) -> String
    ) -> [String] {
        let count = self.circuit.failureLimit.map { "\(failures.count) of \($0)" } ?? "\(failures.count)"
        switch self.circuit.config.trip.kind {
        case .consecutiveFailures: return ["\(count) in a row"]
        case .failureRate, .unknown: return [count]
        case .failures(_, let window):
            let line = Timeline.text(failures, window: window, endingAt: end)
            return ["\(count) within \(window.readable)", "[\(line)] \(describe(window.readable))"]
        }
    }
}

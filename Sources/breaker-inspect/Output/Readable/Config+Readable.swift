import BreakerStore
import BreakerStoreJSON
import BreakerTool

extension CircuitBreaker.Config {
    /// The circuit's rules, in lines.
    var readableRules: [String] {
        let recovery = self.recovery
        var lines: [String] = []
        switch self.trip.kind {
        case .failures(let count, let window):
            lines.append("trips at \(count.counted("failure")) within \(window.readable)")
        case .consecutiveFailures(let count): lines.append("trips at \(count.counted("failure")) in a row")
        case .failureRate: lines.append("trips at \(self.trip)")
        case .unknown: lines.append("trips by \(self.trip): this version counts no calls")
        }
        if let slow = self.slow { lines.append("trips at \(slow)") }
        if self.minimumReporters > 1 { lines[lines.count - 1] += ", seen by \(self.minimumReporters) workers" }
        var open = "stays open for \(recovery.timeout.readable)"
        if recovery.multiplier > 1 {
            open +=
                ", times \(MetricLines.number(recovery.multiplier)) for each further trip, at most \(recovery.cap.readable)"
        }
        if recovery.jitter > 0 { open += ", plus up to \(Int(recovery.jitter * 100)) %" }
        if recovery.outageCap != RecoveryRule().outageCap {
            open += "; a declared outage at most \(recovery.outageCap.readable)"
        }
        lines.append(open)
        var probes = "probes: \(self.probes.limit) at a time, "
        if self.probes.growth > 1 { probes += "times \(self.probes.growth) after each round, " }
        probes += "\(self.probes.successesToClose) must succeed, "
        if self.probes.toleratedShare > 0 {
            probes += "\(CallRate.percent(self.probes.toleratedShare)) of that may fail, "
        }
        lines.append(probes + "each within \(self.probes.lease.readable)")
        if self.mode == .observing { lines.append("observing: no call is refused") }
        return lines
    }
}

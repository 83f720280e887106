import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONValue {
    /// The members of a circuit as `show` prints it.
    package static func detail(of seen: SeenCircuit) -> [String: JSONValue] {
        let circuit = seen.snapshot
        var members = Self.circuit(seen)
        members["config"] = .config(circuit.config)
        members["rules"] = seen.rules
        members["tripReason"] = .text(seen.tripReason)
        members["totals"] = .totals(circuit.totals)
        members["failureTimes"] = .array(circuit.failures.map { .moment("at", $0) })
        members["outages"] = .array(seen.outages.map { .outage($0) })
        members["probes"] = .array(circuit.probes.map { .object(Self.probe($0)) })
        members["lostProbes"] = .array(
            seen.lostProbes.map { lost in
                .object(Self.probe(lost.probe).merging(["isDead": .bool(lost.isDead)]) { first, _ in first })
            })
        return members
    }

    private static func probe(_ probe: CircuitSnapshot.Probe) -> [String: JSONValue] {
        var members: [String: JSONValue] = [
            "pid": probe.pid.map { .integer(Int64($0)) } ?? .null, "worker": .text(probe.name),
        ]
        members.set("since", to: probe.since)
        members.set("leaseEnds", to: probe.leaseEnds)
        return members
    }

    /// An outage as `show` and `history --outages` print it.
    static func outage(_ outage: SeenOutage) -> JSONValue {
        var members: [String: JSONValue] = [
            "circuit": .string(outage.circuit), "endedBy": .text(outage.endedBy),
            "failed": outage.hurt.map { .count($0.failed) } ?? .null, "failedProbes": .count(outage.failedProbes),
            "isSettled": .bool(outage.isSettled), "isStartKnown": .bool(outage.isStartKnown),
            "isEndKnown": .bool(outage.isEndKnown),
            "refused": outage.hurt.map { .count($0.refused) } ?? .null,
        ]
        members.set("since", to: outage.start)
        members.set("until", to: outage.end)
        return .object(members)
    }

    private static func moment(_ name: String, _ date: Date) -> JSONValue {
        var members: [String: JSONValue] = [:]
        members.set(name, to: date)
        return .object(members)
    }

    private static func config(_ config: CircuitBreaker.Config) -> JSONValue {
        let trip: [String: JSONValue] = [
            "count": config.trip.count.map(Self.count) ?? .null,
            "minimumCalls": config.trip.minimumCalls.map(Self.count) ?? .null,
            "rule": .string(config.trip.word),
            "share": config.trip.share.map(Self.number) ?? .null,
            "windowMs": config.trip.window.map { .integer($0.wholeMilliseconds) } ?? .null,
        ]
        let recovery: [String: JSONValue] = [
            "capMs": .integer(config.recovery.cap.wholeMilliseconds), "jitter": .number(config.recovery.jitter),
            "multiplier": .number(config.recovery.multiplier),
            "outageCapMs": .integer(config.recovery.outageCap.wholeMilliseconds),
            "timeoutMs": .integer(config.recovery.timeout.wholeMilliseconds),
        ]
        let probes: [String: JSONValue] = [
            "growth": .count(config.probes.growth), "leaseMs": .integer(config.probes.lease.wholeMilliseconds),
            "limit": .count(config.probes.limit), "successesToClose": .count(config.probes.successesToClose),
            "toleratedShare": .number(config.probes.toleratedShare),
        ]
        return .object([
            "minimumReporters": .count(config.minimumReporters), "mode": .string(config.mode.rawValue),
            "probes": .object(probes), "recovery": .object(recovery), "slow": config.slow.map(Self.slow) ?? .null,
            "trip": .object(trip),
        ])
    }

    private static func slow(_ rule: SlowCallRule) -> JSONValue {
        .object([
            "minimumCalls": .count(rule.minimumCalls), "share": .number(rule.share),
            "thresholdMs": .integer(rule.threshold.wholeMilliseconds),
            "windowMs": .integer(rule.window.wholeMilliseconds),
        ])
    }

    private static func totals(_ totals: CallTotals) -> JSONValue {
        let durations = totals.durations.map { durations in
            JSONValue.object([
                "boundsMs": .array(durations.bounds.map { .integer($0.wholeMilliseconds) }),
                "counts": .array(durations.counts.map { .count($0) }),
                "sumMs": .integer(durations.sum.wholeMilliseconds),
            ])
        }
        return .object([
            "durations": durations ?? .null, "failed": .count(totals.failed), "ignored": .count(totals.ignored),
            "refused": .count(totals.refused), "slow": .count(totals.slow), "succeeded": .count(totals.succeeded),
        ])
    }
}

extension TripRule {
    fileprivate var word: String {
        if self.share != nil { return "failureRate" }
        if self.window != nil { return "failures" }
        if self.count != nil { return "consecutiveFailures" }
        // A rule of a later version is described by its word, then a comma and an explanation.
        return String(self.description.prefix { $0 != "," })
    }
}

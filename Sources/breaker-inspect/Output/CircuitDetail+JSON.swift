import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension CircuitDetail {
    var json: [String: JSONValue] {
        var circuit = JSONValue.circuit(self.inspected, at: self.now)
        circuit["config"] = .config(self.inspected.snapshot.config)
        circuit["failureTimes"] = .array(self.inspected.snapshot.failures.map { .moment("at", $0) })
        circuit["probes"] = .array(
            self.inspected.snapshot.probes.map { probe in
                let worker = self.workers.first { $0.id == probe.worker }
                var members: [String: JSONValue] = [
                    "pid": worker.map { .integer(Int64($0.pid)) } ?? .null, "worker": .text(worker?.name),
                ]
                members.set("since", to: probe.since)
                members.set("leaseEnds", to: probe.leaseEnds)
                return .object(members)
            })
        return ["circuit": .object(circuit), "events": .array(self.events.reversed().map { .event($0) })]
    }
}

extension JSONValue {
    fileprivate static func moment(_ name: String, _ date: Date) -> JSONValue {
        var members: [String: JSONValue] = [:]
        members.set(name, to: date)
        return .object(members)
    }

    fileprivate static func config(_ config: CircuitBreaker.Config) -> JSONValue {
        var trip: [String: JSONValue] = [:]
        switch config.trip.kind {
        case .failures(let count, let window):
            trip = [
                "count": .count(count), "rule": .string("failures"), "windowMs": .integer(window.wholeMilliseconds),
            ]
        case .consecutiveFailures(let count):
            trip = ["count": .count(count), "rule": .string("consecutiveFailures"), "windowMs": .null]
        case .unknown(let word):
            trip = ["count": .null, "rule": .string(word), "windowMs": .null]
        }
        let recovery: [String: JSONValue] = [
            "capMs": .integer(config.recovery.cap.wholeMilliseconds), "jitter": .number(config.recovery.jitter),
            "multiplier": .number(config.recovery.multiplier),
            "timeoutMs": .integer(config.recovery.timeout.wholeMilliseconds),
        ]
        let probes: [String: JSONValue] = [
            "leaseMs": .integer(config.probes.lease.wholeMilliseconds), "limit": .count(config.probes.limit),
            "successesToClose": .count(config.probes.successesToClose),
        ]
        return .object([
            "minimumReporters": .count(config.minimumReporters), "probes": .object(probes),
            "recovery": .object(recovery), "trip": .object(trip),
        ])
    }
}

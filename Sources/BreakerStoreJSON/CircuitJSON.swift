import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension JSONValue {
    /// The members of a circuit as `list` and `check` print it.
    package static func circuit(_ seen: SeenCircuit) -> [String: JSONValue] {
        let (circuit, now) = (seen.snapshot, seen.now)
        var members: [String: JSONValue] = [
            "beneath": circuit.beneath.map { .string(StateWord($0).rawValue) } ?? .null,
            "epoch": .integer(circuit.epoch),
            "failureLimit": circuit.failureLimit.map(Self.count) ?? .null,
            "failures": .count(circuit.failures.count),
            "failuresAtTrip": seen.failuresAtTrip.map(Self.count) ?? .null,
            "group": .text(circuit.config.group),
            "hold": circuit.hold.map(Self.hold) ?? .null,
            "hurt": circuit.hurt.map(Self.hurt) ?? .null,
            "isDue": .bool(circuit.isDue),
            "lastError": .text(circuit.lastError),
            "mode": .string(circuit.config.mode.rawValue),
            "name": .string(circuit.name),
            "probeCount": .count(circuit.probes.count),
            "recent": circuit.recent.map(Self.recent) ?? .null,
            "refusals": .count(circuit.refusals),
            "state": .string(circuit.stateWord.rawValue),
            "tripsWithinHour": .count(seen.tripsWithinHour),
            "tripsInARow": .count(circuit.tripsInARow),
            "workers": .count(circuit.workers),
        ]
        members.set("since", to: circuit.since)
        members.set("trippedSince", to: circuit.trippedSince)
        members.set("retryAt", to: circuit.retryAt)
        members["retryInMs"] =
            circuit.retryAt.map { .integer(max(0, $0.since(now).wholeMilliseconds)) } ?? .null
        return members
    }

    private static func hurt(_ hurt: CircuitSnapshot.Hurt) -> JSONValue {
        .object(["failed": .count(hurt.failed), "refused": .count(hurt.refused)])
    }

    private static func recent(_ rates: CallRates) -> JSONValue {
        .object([
            "calls": .count(rates.calls), "failed": .count(rates.failed), "slow": .count(rates.slow),
            "slowCalls": .count(rates.slowCalls),
            "slowWindowMs": rates.slowWindow.map { .integer($0.wholeMilliseconds) } ?? .null,
            "windowMs": .integer(rates.window.wholeMilliseconds),
        ])
    }

    static func hold(_ hold: CircuitSnapshot.Hold) -> JSONValue {
        var members: [String: JSONValue] = [
            "by": .text(hold.by),
            "reason": .text(hold.reason),
            "state": .string(hold.state.rawValue),
        ]
        members.set("since", to: hold.since)
        members.set("until", to: hold.until)
        return .object(members)
    }
}

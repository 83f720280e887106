package import BreakerStore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What the verbs print that make calls for commands and hooks.
extension JSONDocument {
    /// A call that a circuit has refused.
    ///
    /// - Parameter now: the time of the refusal.
    package static func refused(_ refusal: CircuitOpenError, at now: Date) -> String {
        let retry = refusal.retryAfter.map { max($0, .zero) }
        var members: [String: JSONValue] = [
            "cause": .string(refusal.cause.rawValue),
            "circuit": .string(refusal.name),
            "group": .text(refusal.group),
            "hold": refusal.hold.map(JSONValue.hold) ?? .null,
            "isAdmitted": .bool(false),
            "lastError": .text(refusal.lastError),
            "retryInMs": retry.map { .integer($0.wholeMilliseconds) } ?? .null,
        ]
        members.set("retryAt", to: retry.map { now + $0 / .seconds(1) })
        return JSONValue.document(members)
    }

    /// A permit for a call.
    ///
    /// - Parameters:
    ///   - permit: the text with which the call's outcome is reported.
    ///   - circuit: the circuit's name.
    ///   - isProbe: whether the call is a probe.
    ///   - isCounted: whether the outcome counts: false while the store can't be used, and for a call within a probe.
    ///   - holder: the process with whose end the permit ends.
    package static func admitted(
        permit: String, circuit: String, isProbe: Bool, isCounted: Bool, holder: (pid: Int32, name: String)
    ) -> String {
        JSONValue.document([
            "circuit": .string(circuit),
            "holder": .object(["name": .string(holder.name), "pid": .integer(Int64(holder.pid))]),
            "isAdmitted": .bool(true), "isCounted": .bool(isCounted), "isProbe": .bool(isProbe),
            "permit": .string(permit),
        ])
    }
}

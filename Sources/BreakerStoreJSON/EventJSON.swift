package import BreakerStore

extension JSONValue {
    /// An event as `show` and `history` print it.
    package static func event(_ event: CircuitEvent) -> JSONValue {
        var members: [String: JSONValue] = [
            "by": .text(event.by),
            "circuit": .text(event.circuit),
            "failed": event.failed.map(Self.count) ?? .null,
            "from": .text(event.from),
            "id": .integer(event.id),
            "kind": .string(event.kind.rawValue),
            "pid": event.pid.map { .integer(Int64($0)) } ?? .null,
            "reason": .text(event.reason),
            "refused": event.refused.map(Self.count) ?? .null,
            "subject": .text(event.subject),
            "to": .text(event.to),
            "worker": .text(event.worker),
        ]
        members.set("at", to: event.at)
        return .object(members)
    }
}

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// How a store is joined with those of other hosts, as read from the store.
package struct SeenLink: Sendable {
    package enum Health: String, Sendable {
        case joined
        case cutOff = "cut-off"
        /// The link has not reported yet whether it reaches the others.
        case begun
        /// The link was killed, and no other link has taken its place.
        case gone
    }

    package var health: Health
    package var since: Date?
    package var pid: Int32?
    package var reason: String?

    package init(_ health: Health, since: Date? = nil, pid: Int32? = nil, reason: String? = nil) {
        self.health = health
        self.since = since
        self.pid = pid
        self.reason = reason
    }
}

extension JSONValue {
    static func link(_ link: SeenLink?) -> JSONValue {
        guard let link else { return .null }
        var members: [String: JSONValue] = [
            "health": .string(link.health.rawValue), "pid": link.pid.map { .integer(Int64($0)) } ?? .null,
            "reason": .text(link.reason),
        ]
        members.set("since", to: link.since)
        return .object(members)
    }
}

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A store's link to other hosts, as read beside the store.
package struct SeenLink: Sendable {
    package enum Health: String, Sendable {
        case joined
        case cutOff = "cut-off"
        /// The link has not reported yet whether it reaches the other hosts.
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

/// The creation of a store's file, and what was restored from the lost file that it replaces.
package struct SeenCreation: Sendable {
    package var at: Date
    /// A description of the loss; nil if the file replaces none that a worker knew.
    package var inPlaceOf: String?
    package var restoredHolds: Int
    package var restoredOpenStates: Int

    package init(at: Date, inPlaceOf: String? = nil, restoredHolds: Int = 0, restoredOpenStates: Int = 0) {
        self.at = at
        self.inPlaceOf = inPlaceOf
        self.restoredHolds = restoredHolds
        self.restoredOpenStates = restoredOpenStates
    }
}

extension JSONValue {
    static func creation(_ creation: SeenCreation) -> JSONValue {
        var members: [String: JSONValue] = [
            "inPlaceOf": .text(creation.inPlaceOf), "restoredHolds": .count(creation.restoredHolds),
            "restoredOpenStates": .count(creation.restoredOpenStates),
        ]
        members.set("at", to: creation.at)
        return .object(members)
    }
}

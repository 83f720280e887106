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

/// When a store's file was created, and what it was given of a lost file in whose place it is.
package struct SeenCreation: Sendable {
    package var at: Date
    /// What was lost; nil if the file is in place of none that a worker knew.
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

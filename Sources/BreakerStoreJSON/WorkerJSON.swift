import BreakerStore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The living workers that can't use the store's file, and use in-memory breakers instead.
package struct SeenDegraded: Sendable {
    package var count: Int
    /// How many workers live.
    package var live: Int
    /// How many of them run a release that can't use the file, and so obey no hold and no reset.
    package var outside: Int
    /// The codes of the library's errors, as far as they are known.
    package var reasons: [String]
    /// Since when the first of them has been degraded, if known.
    package var since: Date?

    package init(_ count: Int, ofLive live: Int, outside: Int, reasons: [String], since: Date?) {
        self.count = count
        self.live = live
        self.outside = outside
        self.reasons = reasons
        self.since = since
    }
}

extension JSONValue {
    /// The member `degraded` of a document; null if all workers can use the file.
    static func degraded(_ degraded: SeenDegraded?) -> JSONValue {
        guard let degraded else { return .null }
        var members: [String: JSONValue] = [
            "count": .count(degraded.count), "live": .count(degraded.live), "outside": .count(degraded.outside),
            "reasons": .texts(degraded.reasons),
        ]
        members.set("since", to: degraded.since)
        return .object(members)
    }

    /// A worker as `workers` prints it.
    static func worker(_ worker: WorkerSnapshot, isOutside: Bool) -> JSONValue {
        var members: [String: JSONValue] = [
            "id": .integer(worker.id), "isOutside": .bool(isOutside), "name": .string(worker.name),
            "pid": .integer(Int64(worker.pid)), "probing": .array(worker.probing.map { .string($0) }),
            "version": .text(worker.version),
        ]
        members.set("since", to: worker.since)
        members.set("degradedSince", to: worker.degradedSince)
        return .object(members)
    }
}

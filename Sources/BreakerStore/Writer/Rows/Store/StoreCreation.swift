#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// When a store's file was created, and what was restored in it from a lost file that it replaces.
package struct StoreCreation: Sendable, Hashable {
    package var at: Date
    /// Nil if the file replaces none that a worker knew.
    package var replacement: Replacement?

    package struct Replacement: Sendable, Hashable {
        /// What was lost, as "in place of a removed file".
        package var what: String
        package var isDamaged: Bool
        package var restoredHolds: Int
        package var restoredOpenStates: Int
        /// Whether an operator has reset or held a circuit since.
        package var isSeen: Bool
    }

    package init(at: Date, replacement: Replacement? = nil) {
        self.at = at
        self.replacement = replacement
    }

    /// For how long the replacement is reported, unless an operator has acted.
    private static let reportingTime = Duration.seconds(86_400)

    /// The replacement, if it is still to be reported.
    package func news(at now: Date) -> Replacement? {
        guard let replacement, !replacement.isSeen, now.timeIntervalSince(self.at) < Self.reportingTime / .seconds(1)
        else { return nil }
        return replacement
    }

    /// Reads it from the file; nil if an older release created the file.
    ///
    /// Without its replacement if that is more than a day ago.
    static func read(
        _ database: Database, _ date: (StoreTime) -> Date, now: Date
    ) throws(BreakerStoreError) -> StoreCreation? {
        guard let found = try database.creation() else { return nil }
        // A replacement that is no longer reported is not searched for: a long history takes long to read.
        guard found.replaced != nil, now.timeIntervalSince(date(found.at)) < Self.reportingTime / .seconds(1) else {
            return StoreCreation(at: date(found.at))
        }
        let creationEvent = try database.first(
            "SELECT id, reason FROM event WHERE circuit IS NULL AND kind = 'created' ORDER BY id LIMIT 1"
        ) { ($0.integer(0), $0.optionalText(1)) }
        func count(_ sql: SQL, _ values: SQLValue...) throws(BreakerStoreError) -> Int {
            Int(clamping: try database.first(sql, values) { $0.integer(0) } ?? 0)
        }
        // The reason is a text for people, as `Transaction.restore` and `LostFile.inWords` make it.
        let what = creationEvent?.1?.prefix { $0 != ";" }
        return StoreCreation(
            at: date(found.at),
            replacement: Replacement(
                what: what.map(String.init) ?? "in place of a lost file",
                isDamaged: what?.hasPrefix("in place of a damaged file") ?? false,
                restoredHolds: try count("SELECT count(*) FROM predecessor WHERE restored_hold = 1"),
                restoredOpenStates: try count("SELECT count(*) FROM predecessor WHERE restored_open = 1"),
                isSeen: try count(
                    "SELECT EXISTS (SELECT 1 FROM event WHERE kind IN ('reset', 'held') AND id > ?1)",
                    .integer(creationEvent?.0 ?? 0)) == 1))
    }
}

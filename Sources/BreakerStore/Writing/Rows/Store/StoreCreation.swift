#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// When a store's file was created, and what it was given of a lost file in whose place it is.
package struct StoreCreation: Sendable, Hashable {
    package var at: Date
    /// Nil if the file is in place of none that a worker knew.
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

    /// For how long people are told of the replacement, unless an operator has acted.
    private static let timeToTell = Duration.seconds(86_400)

    /// The replacement, if people are to be told of it.
    package func news(at now: Date) -> Replacement? {
        guard let replacement, !replacement.isSeen, now.timeIntervalSince(self.at) < Self.timeToTell / .seconds(1)
        else { return nil }
        return replacement
    }

    /// Nil for a file that an older release has created.
    static func read(_ database: Database, _ date: (StoreTime) -> Date) throws(BreakerStoreError) -> StoreCreation? {
        guard let found = try database.creation() else { return nil }
        guard found.replaced != nil else { return StoreCreation(at: date(found.at)) }
        let created = try database.first(
            "SELECT id, reason FROM event WHERE circuit IS NULL AND kind = 'created' ORDER BY id LIMIT 1"
        ) { ($0.integer(0), $0.optionalText(1)) }
        func count(_ sql: SQL, _ values: SQLValue...) throws(BreakerStoreError) -> Int {
            Int(clamping: try database.first(sql, values) { $0.integer(0) } ?? 0)
        }
        let what = created?.1?.prefix { $0 != ";" }
        return StoreCreation(
            at: date(found.at),
            replacement: Replacement(
                what: what.map(String.init) ?? "in place of a lost file",
                isDamaged: what?.hasPrefix("in place of a damaged file") ?? false,
                restoredHolds: try count("SELECT count(*) FROM predecessor WHERE restored_hold = 1"),
                restoredOpenStates: try count("SELECT count(*) FROM predecessor WHERE restored_open = 1"),
                isSeen: try count(
                    "SELECT EXISTS (SELECT 1 FROM event WHERE kind IN ('reset', 'held') AND id > ?1)",
                    .integer(created?.0 ?? 0)) == 1))
    }
}

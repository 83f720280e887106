import CSQLite

/// The versions that this build works with, as `breaker-inspect` shows them.
package enum Versions {
    /// The newest schema of a file that this build knows, such as `1.0`.
    package static var schema: String { Self.text(ofSchema: Schema.version) }
    /// The version of this library.
    package static let library = "0.6.1"

    /// The first release that can use files of this schema's major version.
    private static let oldestOfMajor: [UInt32] = [0, 6]

    /// Whether a release can use only files of an earlier major version of the schema; false for a text that is no
    /// release.
    ///
    /// - Parameter release: the text that workers write, such as `0.4.3`.
    static func isOfOlderMajor(_ release: String) -> Bool {
        let parts = release.prefix { $0 != " " }.split(separator: ".")
        let numbers = parts.compactMap { UInt32($0) }
        guard numbers.count == parts.count, numbers.count > 1 else { return false }
        return numbers.lexicographicallyPrecedes(Self.oldestOfMajor)
    }

    /// Whether files of this schema are migrated before this release's workers use them.
    package static func isOlderMajor(schema: Int64) -> Bool { schema < Schema.oldestRead }

    static func text(ofSchema version: Int64) -> String { "\(version / 1_000).\(version % 1_000)" }

    /// The version of the SQLite library that was loaded.
    package static var sqlite: String { unsafe String(cString: sqlite3_libversion()) }
    /// The oldest SQLite that can use a store's file: the first version with STRICT tables.
    static let oldestSQLite: Int32 = 3_037_000

    /// Why a store can't use SQLite of this version; nil if it can.
    ///
    /// A program may be built with one SQLite and load an older one, which would report the file's tables as damage.
    static func refusal(of version: Int32, path: String) -> BreakerStoreError? {
        guard version < Self.oldestSQLite else { return nil }
        let name = "\(version / 1_000_000).\(version / 1_000 % 1_000).\(version % 1_000)"
        return BreakerStoreError(
            code: .unavailable, message: "SQLite \(name) is too old for a store",
            advice: "let the program load SQLite 3.37 or newer", path: path)
    }
}

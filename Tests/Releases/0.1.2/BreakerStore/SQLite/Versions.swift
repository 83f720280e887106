import CSQLite_0_1_2

/// What this build works with, for the operator's tool to tell.
package enum Versions {
    /// The newest schema of a file that this build knows, such as `1.0`.
    package static var schema: String { "\(Schema.version / 1_000).\(Schema.version % 1_000)" }
    /// The version of the SQLite library that was loaded.
    package static var sqlite: String { unsafe String(cString: sqlite3_libversion()) }
}

/// One step of the file's schema.
package struct Migration: Sendable {
    /// The `user_version` that the file carries after this step: major × 1000 + minor.
    package let version: Int32
    package let sql: [UInt8]
}

extension Migration {
    /// All steps, oldest first.
    ///
    /// Released steps never change; the schema grows by added ones.
    package static let all = [
        Migration(version: 1000, sql: PackageResources._001_circuits_sql),
        Migration(version: 1001, sql: PackageResources._002_counting_sql),
    ]

    /// What all steps make, as a new file says it (`SchemaBytes`); a test holds this against SQLite.
    package static let made = PackageResources.schema_txt
}

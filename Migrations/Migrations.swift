/// One step of the file's schema.
package struct Migration: Sendable {
    /// The `user_version` that the file carries after this step: major × 1000 + minor.
    package let version: Int32
    /// What is run, one after the other, in one transaction.
    package let parts: [[UInt8]]

    package init(version: Int32, parts: [[UInt8]]) {
        self.version = version
        self.parts = parts
    }
}

extension Migration {
    /// All steps, oldest first.
    ///
    /// Released steps never change.
    package static let all = [
        Migration(version: 1000, parts: [PackageResources._001_circuits_sql]),
        Migration(version: 1001, parts: [PackageResources._002_counting_sql]),
        Migration(
            version: 2000,
            parts: [PackageResources._003_move_aside_sql, Self.schema, PackageResources._003_copy_sql]),
    ]

    /// The whole schema of the newest version, from which a new file is created.
    package static let schema = PackageResources.schema_sql

    /// The schema rows that the whole schema makes, in the form of `SchemaRow.written`; a test compares them with
    /// SQLite's.
    package static let made = PackageResources.schema_txt
}

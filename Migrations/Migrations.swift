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
            parts: [PackageResources._003_move_aside_sql, PackageResources.schema_sql, PackageResources._003_copy_sql]),
        Migration(version: 2001, parts: [PackageResources._004_predecessor_sql]),
    ]

    /// What is run in an empty file: the whole schema 2.0, and the steps since.
    package static let whole = [PackageResources.schema_sql] + Self.all.filter { $0.version > 2000 }.flatMap(\.parts)

    /// The schema rows that `whole` makes, in the form of `SchemaRow.written`; a test compares them with
    /// SQLite's.
    package static let made = PackageResources.schema_txt
}

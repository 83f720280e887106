/// One step of the file's schema.
package struct Migration: Sendable {
    /// The `user_version` that the file carries after this step: major × 1000 + minor.
    package let version: Int32
    /// The SQL texts that run one after the other in one transaction.
    package let parts: [String]

    package init(version: Int32, parts: [String]) {
        self.version = version
        self.parts = parts
    }
}

extension Migration {
    /// All steps, oldest first; the first step makes the oldest schema that can be migrated.
    ///
    /// Released steps never change.
    package static let all = [
        Migration(version: 2000, parts: [schema2_0, schemaKept]),
        Migration(version: 2001, parts: [schema2_1]),
        Migration(
            version: 3000,
            parts: [
                to3MoveAside, schema,
                Self.views(ofTablesNamed: "breakerstore_2_"), to3Copy,
            ]),
    ]

    /// Returns SQL text that makes temporary views of schema 2's tables, with the names and columns of schema 3.
    ///
    /// - Parameter prefix: the prefix of those tables' names.
    package static func views(ofTablesNamed prefix: String) -> String {
        var views = ""
        for character in twoAsThree { if character == "@" { views += prefix } else { views.append(character) } }
        return views
    }

    /// SQL text that replaces the view of a table that schema 2.0 lacks.
    package static let viewWithoutPredecessor = """
        DROP VIEW temp.predecessor;
        CREATE TEMP VIEW predecessor AS SELECT 0 AS circuit, 0 AS incarnation, 0 AS epoch, 0 AS epoch_here,
        0 AS restored_hold, 0 AS restored_open, 0 AS at, 0 AS path_hash WHERE false
        """

    /// The whole schema, for an empty file.
    package static let whole = [schema, schemaKept]

    /// The rows of `sqlite_schema` that `whole` makes, in the form of `SchemaRow.written`.
    ///
    /// A test compares them with SQLite's.
    package static let expectedRows = Array(schemaMade.utf8)
}

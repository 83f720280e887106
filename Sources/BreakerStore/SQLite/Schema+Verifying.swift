import CSQLite

extension Schema {
    /// Compares a connection's tables with those of the library.
    ///
    /// The connection's statements are refused until then.
    ///
    /// Throws `corrupt` if they are not; `newerSchema` if a later version of the library may have made them so; and
    /// `unavailable` while somebody's index is on them that an opening would drop.
    static func verify(
        _ database: OpaquePointer,
        _ authorizer: Authorizer,
        path: String
    ) throws(BreakerStoreError) {
        let version =
            try unsafe Statement("PRAGMA user_version", on: database, authorizer, path: path)
            .first { $0.integer(0) } ?? 0
        guard version >= Self.oldestRead else {
            throw BreakerStoreError(
                code: .unavailable,
                message: "the file has schema \(Versions.text(ofSchema: version)), which this program can't read",
                advice: "open it once with a service of this release, which moves it to schema \(Versions.schema)",
                path: path
            )
        }
        let schema = try unsafe Statement(SchemaObject.all, on: database, authorizer, path: path)
        switch try Self.fault(of: schema, version: version) {
        case .differs(let what) where version > Self.version:
            throw BreakerStoreError(
                code: .newerSchema,
                message: "a later version has changed the \(what) beyond what this program knows; update the program",
                sqliteCode: SQLITE_SCHEMA,
                path: path
            )
        case .differs(let what):
            throw BreakerStoreError(
                code: .corrupt,
                message: "the file is damaged: the \(what) is not as this library makes it",
                sqliteCode: SQLITE_CORRUPT,
                path: path
            )
        case .hasIndexes(let names) where unsafe sqlite3_db_readonly(database, "main") == 0:
            throw BreakerStoreError(
                code: .unavailable,
                message: "an index of another program is on the tables: \(names.map(\.quoted).joined(separator: ", "))",
                sqliteCode: SQLITE_SCHEMA,
                path: path
            )
        // An index of another program does no harm to a connection that only reads.
        case .hasIndexes, nil: authorizer.verified(version: version)
        }
    }
}

import BreakerStoreMigrations

extension Schema {
    /// Whether the tables and indexes are those that the version of the file is known by, and none of a later one.
    ///
    /// A text in the schema that has changed passes SQLite's own checks, and no statement compiles against it. What others
    /// have added, columns too, does no harm.
    static func isWhole(_ database: Database) throws(BreakerStoreError) -> Bool {
        let version = try database.connection.integer("PRAGMA user_version")
        // What a later version has made of them can't be known here.
        guard version <= Self.version else { return true }
        let found = try Self.objects(of: database)
        let fresh = Database(try Connection(path: ":memory:", access: .readWrite))
        for step in Migration.all where Int64(step.version) <= version {
            try fresh.connection.execute(String(decoding: step.sql, as: UTF8.self))
        }
        let known = try Self.objects(of: fresh)
        for step in Migration.all where Int64(step.version) > version {
            try fresh.connection.execute(String(decoding: step.sql, as: UTF8.self))
        }
        let later = try Self.objects(of: fresh)
        // A step of the migration could not make what is there already.
        return known.allSatisfy { Self.isText(found[$0.key, default: ""], atLeast: $0.value) }
            && later.keys.allSatisfy { known[$0] != nil || found[$0] == nil }
    }

    /// Whether it is the known text, or that with something put in at one place, as `ALTER TABLE … ADD COLUMN` does.
    private static func isText(_ text: String, atLeast known: String) -> Bool {
        guard text.utf8.count > known.utf8.count else { return text == known }
        let begin = zip(text.utf8, known.utf8).prefix { $0 == $1 }.count
        let end = zip(text.utf8.reversed(), known.utf8.reversed()).prefix { $0 == $1 }.count
        return begin + end >= known.utf8.count
    }

    /// The texts of tables and indexes, by name; SQLite's own have none.
    private static func objects(of database: Database) throws(BreakerStoreError) -> [String: String] {
        let objects = try database.all(
            "SELECT name, type || ' ' || tbl_name || ' ' || sql FROM sqlite_schema WHERE sql IS NOT NULL"
        ) {
            (name: $0.text(0), text: $0.text(1))
        }
        return Dictionary(objects.map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first })
    }
}

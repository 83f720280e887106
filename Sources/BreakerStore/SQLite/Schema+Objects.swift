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
        for object in known {
            // Without an index all works, if slower.
            guard let own = found.first(where: { $0.name == object.name }) else {
                if object.isIndex { continue } else { return false }
            }
            guard own.text == object.text || own.isAtLeast(object) && own.compiles else { return false }
        }
        guard version < Self.version else { return true }
        for step in Migration.all where Int64(step.version) > version {
            try fresh.connection.execute(String(decoding: step.sql, as: UTF8.self))
        }
        // A step of the migration could not make what is there already.
        return try Self.objects(of: fresh).allSatisfy { object in
            known.contains { $0.name == object.name } || !found.contains { $0.name == object.name }
        }
    }

    private struct Object {
        let name: String
        let text: String
        let sql: String

        var isIndex: Bool { self.text.utf8.starts(with: "index ".utf8) }

        /// Whether it says what the known one says, and maybe something more at one place, as after
        /// `ALTER TABLE … ADD COLUMN`.
        func isAtLeast(_ known: Object) -> Bool {
            let (mine, other) = (self.bareText, known.bareText)
            let begin = zip(mine, other).prefix { $0 == $1 }.count
            let end = zip(mine.reversed(), other.reversed()).prefix { $0 == $1 }.count
            return mine.count > other.count ? begin + end >= other.count : mine == other
        }

        /// Whether SQLite can make such a table: a connection that only reads minds no broken text.
        ///
        /// An index can't be made without its table.
        var compiles: Bool {
            self.isIndex || (try? Connection(path: ":memory:", access: .readWrite).execute(self.sql)) != nil
        }

        /// Without comments, spaces and quotes around names: tools that copy and rename a table set those anew.
        private var bareText: [UInt8] {
            self.text.utf8.split(separator: UInt8(ascii: "\n")).flatMap { line in
                let code = line.indices.first { line[$0...].starts(with: "--".utf8) }.map { line[..<$0] } ?? line
                return code.filter { $0 > UInt8(ascii: " ") && !"\"`[]".utf8.contains($0) }
            }
        }
    }

    /// Tables and indexes; SQLite's own have no text.
    private static func objects(of database: Database) throws(BreakerStoreError) -> [Object] {
        try database.all(
            "SELECT name, type || ' ' || tbl_name || ' ' || sql, sql FROM sqlite_schema WHERE sql IS NOT NULL"
        ) { Object(name: $0.text(0), text: $0.text(1), sql: $0.text(2)) }
    }
}

extension Database {
    /// Whether nothing is wrong with the store but values of rows, each of which harms its own row alone.
    func isWhole() throws(BreakerStoreError) -> Bool {
        // The quick check would leave the indexes out.
        let lines = try self.all("PRAGMA integrity_check") { $0.text(0) }
        guard lines.allSatisfy({ $0 == "ok" || Self.isOfARow($0) }) else { return false }
        return try Schema.isWhole(self)
    }

    /// Whether a line of SQLite's check speaks of a value in a row, and of nothing else.
    static func isOfARow(_ line: String) -> Bool {
        line.hasPrefix("CHECK constraint failed in ") || line.contains(" value in ")
    }
}

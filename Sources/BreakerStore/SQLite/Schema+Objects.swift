import BreakerStoreMigrations
import Synchronization

extension Schema {
    /// What is wrong with a file's tables and indexes.
    enum Fault: Equatable {
        /// This object is not the one that the version of the file is known by.
        case differs(String)
        /// Somebody has put an index on a table of the library that may refuse rows, or costs what it likes.
        case hasIndexes([String])
    }

    /// What is wrong with the tables and indexes of a file; nil if they can be used.
    ///
    /// Texts are compared, never run. What others have added does no harm as long as SQLite does nothing for it but
    /// store values: tables of their own, plain columns, plain indexes. An index of the library that is missing, or is
    /// another one, makes all slower, no more.
    static func fault(in found: [SchemaObject], version: Int64) throws(BreakerStoreError) -> Fault? {
        if let odd = found.first(where: { !$0.hasKnownType }) { return .differs("type of \(odd.name)") }
        let known = try Self.objects(ofVersion: version)
        for table in known where table.isTable {
            let own = found.filter { $0.isNamed(like: table) }
            guard own.count == 1, own[0].isAtLeast(table) else { return .differs("table \(table.name)") }
        }
        let strange = found.filter { object in
            object.isIndex && known.contains { object.isAbout($0) } && !object.isPlainIndex
        }
        return strange.isEmpty ? nil : .hasIndexes(strange.map(\.name))
    }

    /// What somebody has added to a file of this version; in one of a later version nobody knows.
    static func additions(in found: [SchemaObject], version: Int64) throws(BreakerStoreError) -> [SchemaObject] {
        guard version <= Self.version else { return [] }
        let known = try Self.objects(ofVersion: version)
        // SQLite's own tables do not count.
        return found.filter { object in
            !object.isOfSQLite && !known.contains { object.isNamed(like: $0) }
        }
    }

    /// SQLite's limit, unless it was compiled with another one (https://sqlite.org/limits.html).
    private static let mostColumns = 2_000

    /// What stands in the way of the steps that a file of an older version lacks, in words.
    ///
    /// Somebody else may have made a table, a view, an index or a column by a name that a step uses, or have left no
    /// room in a table for the columns that a step adds.
    static func obstacles(
        in found: [SchemaObject], ofVersion version: Int64
    ) throws(BreakerStoreError) -> [String] {
        guard version < Self.version, !found.isEmpty else { return [] }
        let known = try Self.objects(ofVersion: version)
        return try Self.objects(ofVersion: Self.version).flatMap { object in
            let own = found.first { $0.isNamed(like: object) }
            guard let before = known.first(where: { $0.isNamed(like: object) }) else {
                return own.map { ["the \($0.type) \($0.name)"] } ?? []
            }
            let added = Set(object.columns).subtracting(before.columns)
            guard !added.isEmpty, let columns = own?.columns else { return [] }
            if columns.count + added.count > Self.mostColumns { return ["the number of columns in \(object.name)"] }
            return columns.filter(added.contains).map { column in
                "the column \(String(decoding: column, as: UTF8.self)) in \(object.name)"
            }
        }
    }

    // By version. Not a dictionary: for the first one of a type the runtime looks for conformances in all libraries
    // that are loaded.
    private static let known = Mutex<[(version: Int32, objects: [SchemaObject])]>([])

    /// The tables and indexes of the library in a file of this version; those of its own in one of a later version.
    static func objects(ofVersion version: Int64) throws(BreakerStoreError) -> [SchemaObject] {
        let steps = Migration.all.filter { Int64($0.version) <= version }
        // A file may claim any version: those between two steps are the earlier one's.
        let last = steps.last?.version ?? 0
        if let known = Self.known.withLock({ $0.first { $0.version == last } }) { return known.objects }
        let made = last == Self.version ? SchemaBytes.made.objects : nil
        let objects = if let made { made } else { try Self.objects(madeBy: steps) }
        Self.known.withLock { $0.append((last, objects)) }
        return objects
    }

    /// What the steps make, as SQLite makes it in memory.
    static func objects(madeBy steps: [Migration]) throws(BreakerStoreError) -> [SchemaObject] {
        let fresh = try Connection(path: ":memory:", access: .readWrite)
        for part in steps.flatMap(\.parts) { try fresh.changeSchema(String(decoding: part, as: UTF8.self)) }
        return try fresh.schemaObjects()
    }

    /// What is wrong with the tables and indexes of a file; nil if they can be used.
    ///
    /// - Parameter schema: `SchemaObject.all`, on the connection to the file.
    static func fault(of schema: borrowing Statement, version: Int64) throws(BreakerStoreError) -> Fault? {
        if version == Self.version, try SchemaBytes(schema) == SchemaBytes.made { return nil }
        // Before its first version the library has no tables.
        guard try !Self.objects(ofVersion: version).isEmpty else { return .differs("version") }
        return try Self.fault(in: schema.all { SchemaObject($0) }, version: version)
    }
}

extension Connection {
    func schemaObjects() throws(BreakerStoreError) -> [SchemaObject] {
        try self.prepare(SchemaObject.all).all { SchemaObject($0) }
    }
}

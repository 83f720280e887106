/// Completes names that an operator types: a few statements read few pages, however large the store is.
extension StoreView {
    private static let from: SQL = "SELECT name FROM circuit WHERE name >= ?1 AND name <= ?2 ORDER BY name LIMIT ?3"
    private static let upTo: SQL = """
        SELECT name FROM circuit WHERE name >= ?1 AND name <= ?2 ORDER BY name DESC LIMIT ?3
        """
    private static let groups: SQL = """
        SELECT DISTINCT group_name FROM (SELECT group_name FROM circuit ORDER BY id DESC LIMIT ?1)
        WHERE group_name IS NOT NULL
        """
    /// How many of the last names are read, besides the first names.
    private static let lastCount = 16
    /// How many circuits, the newest first, are searched for groups, which have no index.
    private static let newestCount: Int64 = 2_000

    /// The first names that begin with a text and, if there are more than `limit`, the last ones too.
    ///
    /// A beginning that all returned names share is shared by all names that begin with the text.
    package func names(from prefix: String, limit: Int) throws(BreakerStoreError) -> [String] {
        // No name that begins with the prefix comes after this text.
        let end = prefix + String(repeating: "\u{10FFFF}", count: 4)
        let database = self.database
        var names = try database.all(Self.from, .text(prefix), .text(end), .integer(Int64(limit))) { $0.text(0) }
        guard names.count == limit else { return names }
        let last = try database.all(Self.upTo, .text(prefix), .text(end), .integer(Int64(Self.lastCount))) {
            $0.text(0)
        }
        names += last.reversed().filter { name in !names.contains { $0.utf8.elementsEqual(name.utf8) } }
        return names
    }

    /// The groups of the newest circuits, in order.
    package func groups(limit: Int) throws(BreakerStoreError) -> [String] {
        let groups = try self.database.all(Self.groups, .integer(Self.newestCount)) { $0.text(0) }
        return Array(groups.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(limit))
    }
}

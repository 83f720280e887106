/// A search for circuits in the file: which, and in what order.
///
/// Each statement selects the columns of `CircuitColumn`, the name, and two flags: whether there are failures that may
/// count, and durations of calls. Most circuits have none, and then no further statement searches for them.
struct CircuitSearch {
    let sql: SQL
    var values: [SQLValue] = []

    private static func select(
        _ which: String,
        hasFailures: String = """
        EXISTS (SELECT 1 FROM failure WHERE failure.circuit = circuit.id
        AND failure.at >= coalesce(circuit.failures_since, -9223372036854775808))
        """,
        hasDurations: String = "EXISTS (SELECT 1 FROM duration WHERE duration.circuit = circuit.id)"
    ) -> SQL {
        CircuitColumn.select { "SELECT \($0), name, \(hasFailures), \(hasDurations) FROM circuit WHERE \(which)" }
    }

    /// The circuit of this name; does not search for failures: see `Database.readForDecision`.
    static func named(_ name: String) -> Self { Self(sql: Self.oneByName, values: [.text(name)]) }
    private static let oneByName = select("name = ?1", hasFailures: "NULL", hasDurations: "NULL")

    /// All circuits, ordered by row id, as in the file: in another order SQLite would read pages again and again.
    static let all = Self(sql: select("true ORDER BY id"))

    static func numbered(_ id: Int64) -> Self { Self(sql: Self.oneByNumber, values: [.integer(id)]) }
    private static let oneByNumber = select("id = ?1")

    /// The circuits whose names match a pattern, ordered by row id.
    static func matching(_ pattern: String) -> Self { Self(sql: Self.manyByNumber, values: [.text(pattern)]) }
    private static let manyByNumber = select("name GLOB ?1 ORDER BY id")

    /// The circuits whose names match a pattern and follow a name, ordered by name.
    static func byName(_ pattern: String, after name: String?) -> Self {
        Self(sql: Self.manyByName, values: [.text(pattern), .text(name ?? "")])
    }
    private static let manyByName = select("name GLOB ?1 AND name > ?2 ORDER BY name")
}

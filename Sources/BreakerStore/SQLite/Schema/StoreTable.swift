/// A table that statements may touch, and whose removal deletes its rows; `TableColumns` has the columns.
struct StoreTable: Sendable {
    let name: StaticString
    /// The column with a circuit's id, if the rows are deleted together with that circuit.
    var circuit: StaticString?
    /// The column with a worker's id, if the rows are deleted together with that worker.
    var worker: StaticString?

    static let all = [
        StoreTable(name: "circuit", circuit: "id"),
        // One row, which stays.
        StoreTable(name: "clock"),
        StoreTable(name: "failure", circuit: "circuit"),
        // New events delete the oldest ones.
        StoreTable(name: "event"),
        StoreTable(name: "worker", worker: "id"),
        StoreTable(name: "registration", circuit: "circuit", worker: "worker"),
        // A dead worker's slots stay: who takes them next records the death.
        StoreTable(name: "probe", circuit: "circuit"),
        StoreTable(name: "counters", circuit: "circuit"),
        StoreTable(name: "duration", circuit: "circuit"),
        StoreTable(name: "transition", circuit: "circuit"),
        StoreTable(name: "command", circuit: "circuit"),
        StoreTable(name: "predecessor", circuit: "circuit"),
        StoreTable(name: "sqlite_sequence"),
    ]

    /// The tables of schema 2 that have another name, behind views: see `Connection.viewOlderTables`.
    static let older: [StaticString] = ["tally", "word"]

    /// The statements that delete all rows of a circuit, of circuits with ids above ?1, or of a worker.
    static let ofCircuit = Self.deletions(\.circuit, "=")
    static let ofCircuitsAbove = Self.deletions(\.circuit, ">")
    static let ofWorker = Self.deletions(\.worker, "=")

    static func deletions(
        _ owner: (StoreTable) -> StaticString?, _ comparison: String, in tables: [StoreTable] = Self.all
    ) -> [SQL] {
        tables.compactMap { table in
            owner(table).map { SQL(composed: "DELETE FROM \(table.name) WHERE \($0) \(comparison) ?1") }
        }
    }
}

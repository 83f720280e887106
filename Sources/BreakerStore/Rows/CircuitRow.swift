/// A row of the table `circuit`, as far as the machine and the snapshots know it.
struct CircuitRow: Equatable {
    var id: Int64
    var label: String?
    var refusals: Int
    /// When a worker last registered the circuit, or when such a worker was last found dead.
    var registered: Int64
    /// A number that no other circuit has; nil until a program of schema 1.1 has registered the circuit.
    var birth: Int64?
    /// What is known of the number of failures.
    var mark: FailureMark?
    /// Without failures and probes, which have tables of their own.
    var circuit: Circuit

    /// The first place after the columns.
    static let columnCount = Int32(CircuitColumn.all.count)

    /// The circuit, and whether it has failures that a success would forget: all that a call must look at.
    ///
    /// After another process's commit SQLite reads each page anew, so that each table more is a read of the file more.
    /// A commit does not need to know of such failures. It reads with the same statement all the same: an opening would
    /// wait while SQLite compiles a second one.
    static let byName = CircuitColumn.select {
        """
        SELECT \($0), CASE WHEN trip_rule = 'consecutive'
        THEN EXISTS (SELECT 1 FROM failure WHERE failure.circuit = circuit.id) ELSE 0 END
        FROM circuit WHERE name = ?1
        """
    }
    static let byPattern = CircuitColumn.select {
        "SELECT \($0), name FROM circuit WHERE name GLOB ?1 AND name > ?2 ORDER BY name"
    }

    /// Reads as much of a row as can be read.
    ///
    /// The other columns get the values that a new circuit of `config` would have, and are named in the answer.
    ///
    /// - Parameter config: as somebody has registered the circuit; nil if nobody is known to have.
    static func salvaged(
        from columns: some ColumnSource,
        _ config: CircuitBreaker.Config?
    ) -> (row: CircuitRow, unreadable: [CircuitColumn]) {
        let reader = CircuitReader(columns, config)
        return (reader.row, reader.unreadable)
    }
}

extension CircuitRow {
    /// Reads the columns from the first one on.
    ///
    /// A row that no version of this program can have written is an error, not a trap.
    init(_ row: Row, name: String, path: String) throws(BreakerStoreError) {
        let reader = CircuitReader(row)
        self = reader.row
        guard reader.unreadable.isEmpty else { throw .unreadableCircuit(name, path) }
    }
}

extension BreakerStoreError {
    static func unreadableCircuit(_ name: String, _ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .corrupt, message: "the row of circuit \(name.quoted) can't be read", path: path)
    }
}

/// The values of one circuit's columns; nil for what is null or of another type than is asked for.
protocol ColumnSource {
    func typedInteger(_ column: CircuitColumn) -> Int64?
    func typedReal(_ column: CircuitColumn) -> Double?
    func typedText(_ column: CircuitColumn) -> String?
    func isNull(_ column: CircuitColumn) -> Bool
}

/// A row whose first columns are the circuit's.
extension Row: ColumnSource {
    func typedInteger(_ column: CircuitColumn) -> Int64? { self.typedInteger(column.rawValue) }
    func typedReal(_ column: CircuitColumn) -> Double? { self.typedReal(column.rawValue) }
    func typedText(_ column: CircuitColumn) -> String? { self.typedText(column.rawValue) }
    func isNull(_ column: CircuitColumn) -> Bool { self.isNull(column.rawValue) }
}

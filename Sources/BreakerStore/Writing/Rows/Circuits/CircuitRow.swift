/// A row of the table `circuit`, as far as the machine and the snapshots know it.
struct CircuitRow: Equatable {
    /// How many calls had failed and been refused at some instant.
    struct Hurt: Equatable {
        var failed: Int64
        var refused: Int64
    }

    /// What is noted of the circuit's rows in the table `failure`, so that they need not be counted each time.
    struct NotedFailures: Equatable {
        /// How many rows are not older than `since`; noted above 32 rows alone.
        ///
        /// Nil: the rows must be counted.
        var count: Int64?
        /// Rows before this instant never count, and are being deleted.
        ///
        /// Nil: the rule's window alone decides.
        var since: StoreTime?
    }

    var id: Int64
    /// A number that no other circuit has.
    var birth: Int64
    var label: String?
    /// The most that a service's own word may ask for, until a config can say so.
    var outageCap: Int64 = 3_600_000_000
    /// When a worker last registered the circuit, or when such a worker was last found dead.
    var registered: Int64
    /// What had been counted when the present stretch began, and when the outage that lasts began; nil where that is
    /// not known.
    var stretchBegan: Hurt?
    var outageBegan: Hurt?
    var failures = NotedFailures()
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
        SELECT \($0), CASE WHEN rule = 'consecutive'
        THEN EXISTS (SELECT 1 FROM failure WHERE failure.circuit = circuit.id
        AND failure.at >= coalesce(circuit.failures_since, -9223372036854775808)) ELSE 0 END
        FROM circuit WHERE name = ?1
        """
    }
    static let byPattern = CircuitColumn.select {
        "SELECT \($0), name FROM circuit WHERE name GLOB ?1 AND name > ?2 ORDER BY name"
    }
}

extension CircuitRow {
    /// Reads the columns from the first one on.
    ///
    /// A row that no program can have written is an error, not a trap.
    init(_ row: Row, name: String, in database: Database) throws(BreakerStoreError) {
        // A word that is not known here is a later version's only where such a version has had the file.
        let isOfLater = try database.connection.schemaVersion() > Schema.version
        guard let found = CircuitReader(row, knowsAllWords: !isOfLater).row else {
            throw .unreadableCircuit(name, database.connection.path)
        }
        self = found
    }
}

extension BreakerStoreError {
    static func unreadableCircuit(_ name: String, _ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .corrupt, message: "the row of circuit \(name.quoted) can't be read", path: path)
    }
}

/// A row whose first columns are the circuit's; nil for what is null or of another type than is asked for.
extension Row {
    func typedInteger(_ column: CircuitColumn) -> Int64? { self.typedInteger(column.rawValue) }
    func typedReal(_ column: CircuitColumn) -> Double? { self.typedReal(column.rawValue) }
    func typedText(_ column: CircuitColumn) -> String? { self.typedText(column.rawValue) }
    func isNull(_ column: CircuitColumn) -> Bool { self.isNull(column.rawValue) }
}

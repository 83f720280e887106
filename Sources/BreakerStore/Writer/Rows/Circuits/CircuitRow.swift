/// A row of the table `circuit`, as the state machine and the snapshots use it.
struct CircuitRow: Equatable {
    /// How many calls had failed and how many had been refused at some instant.
    struct FailedAndRefused: Equatable {
        var failed: Int64
        var refused: Int64
    }

    /// The stored number of the circuit's rows in the table `failure`, which saves counting them each time.
    struct StoredFailureCount: Equatable {
        /// The number of rows from `since` on.
        ///
        /// Nil: 32 or fewer, or unknown; they must be counted.
        var count: Int64?
        /// Rows before this instant never count; transactions delete them little by little.
        ///
        /// Nil: only the rule's window decides which rows count.
        var since: StoreTime?
    }

    var id: Int64
    /// A random number that no other circuit has, of this name or another.
    var incarnation: Int64
    var group: String?
    /// When a worker last registered the circuit, stopped using it, or was found dead while it used the circuit.
    var lastUsed: Int64
    /// The counts when the current window generation began, and when the current outage began; nil where unknown.
    ///
    /// The failures that tripped the circuit are not among them: they are calls of the outage.
    var countsAtGenerationStart: FailedAndRefused?
    var countsAtOutageStart: FailedAndRefused?
    var failures = StoredFailureCount()
    /// The state machine; its failures and its probes have tables of their own.
    var circuit: Circuit

    /// The row with the rules that apply in a process that has registered the circuit with this config.
    func resolved(with own: CircuitBreaker.Config) -> CircuitRow {
        var row = self
        row.circuit.rules = self.circuit.rules.resolved(with: own)
        return row
    }

    /// The index of the first column after the listed ones.
    static let columnCount = Int32(CircuitColumn.all.count)
}

extension CircuitRow {
    /// Reads the listed columns, from index 0 on; throws if no version of this library can have written the row.
    init(_ row: Row, name: String, in database: Database) throws(BreakerStoreError) {
        // An unknown value can be a later version's only if such a version has used the file.
        let isOfLater = try database.connection.schemaVersion() > Schema.version
        let reader = CircuitReader(
            row, knowsAllValues: !isOfLater, rules: database.storedRules.rules(row, CircuitColumn.rules.rawValue))
        guard let found = reader.row else { throw .unreadableCircuit(name, database.connection.path) }
        self = found
    }
}

extension BreakerStoreError {
    static func unreadableCircuit(_ name: String, _ path: String) -> BreakerStoreError {
        BreakerStoreError(code: .corrupt, message: "the row of circuit \(name.quoted) can't be read", path: path)
    }
}

/// Reads a row that begins with the columns of a circuit; nil for NULL and for a value of another type.
extension Row {
    func typedInteger(_ column: CircuitColumn) -> Int64? { self.typedInteger(column.rawValue) }
    func typedText(_ column: CircuitColumn) -> String? { self.typedText(column.rawValue) }
    func isNull(_ column: CircuitColumn) -> Bool { self.isNull(column.rawValue) }
}

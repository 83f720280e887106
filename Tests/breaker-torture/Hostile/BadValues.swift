import BreakerTestSupport

/// Every column of every table with every value that it must never have.
struct BadValues {
    private let stock: HostileStock

    init(_ stock: HostileStock) { self.stock = stock }

    /// As SQL.
    private static let values = [
        "NULL", "0", "1", "-1", "2", "-9223372036854775808", "9223372036854775807", "9223372036854775806", "2147483648",
        "-2147483649", "4294967296", "0.5", "-0.5", "1e300", "9e999", "-9e999", "5e-324", "x''", "x'00'", "x'fffefd'",
        "CAST(zeroblob(70000) AS BLOB)", "''", "' '", "'12'", "'9e999'", "'closed'", "'open'", "'half-open'",
        "'failures'", "'consecutive'", "'rate'", "'no such word'", "'a' || char(0) || 'b'", "char(0)",
        "CAST(x'c328' AS TEXT)", "CAST(x'ff' AS TEXT)", "CAST(x'eda080' AS TEXT)", "CAST(x'f4908080' AS TEXT)",
        "char(27) || '[2J' || char(7)", "char(8238) || 'desolc' || char(10) || '1|2'",
        "CAST(replace(hex(zeroblob(1000)), '00', 'é') AS TEXT)", "replace(hex(zeroblob(500000)), '00', 'ab')",
    ]

    /// The numbers that one bit makes of another.
    private static let bits = 0..<64

    func cases(_ random: inout SeededRandom) -> [HostileCase] {
        var cases: [HostileCase] = []
        for table in self.stock.tables {
            for column in table.columns {
                for row in self.rows(of: table) {
                    // The same, of another type.
                    let others = ["BLOB", "TEXT", "REAL"].map { "CAST(\(column.name) AS \($0))" }
                    for value in Self.values + others {
                        cases.append(self.make(table, column.name, row, value, "values", &random))
                    }
                }
                guard column.type == "INTEGER" else { continue }
                for bit in Self.bits {
                    let number = Int64(bitPattern: 1 << UInt64(bit))
                    // The least of all has no literal of its own.
                    let literal = number == .min ? "(-9223372036854775807 - 1)" : "\(number)"
                    let row = self.rows(of: table).randomElement(using: &random) ?? ""
                    cases.append(self.make(table, column.name, row, literal, "single bits", &random))
                    let flipped = "(\(column.name) | \(literal)) - (\(column.name) & \(literal))"
                    cases.append(self.make(table, column.name, row, flipped, "stamps", &random))
                }
            }
        }
        return cases
    }

    /// Which rows are tried: each circuit, and any of the other tables.
    private func rows(of table: HostileStock.Table) -> [String] {
        table.name == "circuit" ? HostileCircuits.names : [""]
    }

    private func make(
        _ table: HostileStock.Table, _ column: String, _ row: String, _ value: String, _ kind: String,
        _ random: inout SeededRandom
    ) -> HostileCase {
        let store = self.stock.stores.randomElement(using: &random) ?? self.stock.stores[0]
        let stock = self.stock
        let filter = row.isEmpty ? "" : " WHERE name = '\(row)'"
        var change = ["UPDATE \(table.name) SET \(column) = \(value)\(filter)"]
        if !table.hasRowID {
            // One row is left: in the loose table they would have one key.
            let key = table.columns[0].name
            let others = "SELECT \(table.columns[1].name) FROM \(table.name) LIMIT 1"
            change.insert(
                "DELETE FROM \(table.name) WHERE \(table.columns[1].name) IS NOT (\(others)) OR \(key) IS NOT "
                    + "(SELECT \(key) FROM \(table.name) LIMIT 1)", at: 0)
        }
        let statements = table.loosened(change)
        let name = "\(table.name).\(column) = \(value)\(row.isEmpty ? "" : " of '\(row)'"), \(store.name)"
        var made = HostileCase(kind: kind + self.stock.suffix, name: name) { place in
            try stock.put(store, place, statements)
        }
        made.mustObey = row == "closed" && !["id", "name"].contains(column)
        made.mustRepair =
            ["event", "worker", "registration", "failure", "probe", "counters", "duration", "transition", "command"]
            .contains(table.name)
        made.keepsOthers = self.keepsOthers(table.name, row, column, value)
        return made
    }

    /// Whatever is in one circuit's row, the others refuse as before.
    private func keepsOthers(_ table: String, _ row: String, _ column: String, _ value: String) -> Bool {
        switch table {
        // An offset that could be is believed.
        case "clock": column == "boot" || column == "epoch_floor"
        case "circuit": !HostileCircuits.refusing.contains(row) && column != "id" && column != "name"
        default: true
        }
    }
}

import BreakerTestSupport
import Testing

@testable import BreakerStore

/// `docs/store-format.md` says all there is to say, and nothing that no test has tried.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct StoreFormatTests {
    /// A migration that adds a table or a column is to be described there.
    @Test func describesEachTableAndColumn() async throws {
        let place = try Workplace.here
        let worker = try await place.openWorker()
        let query = """
            SELECT group_concat(tables.name || '.' || columns.name) FROM sqlite_schema AS tables,
            pragma_table_info(tables.name) AS columns WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'
            """
        let row = try #require(try await worker.ask("query \(place.store) \(query.replacing("\n", with: " "))")["row"])
        let columns = row.split(separator: ",").map { $0.split(separator: ".").map(String.init) }
        #expect(columns.count > 50)
        let sections = try self.sections()
        for column in columns {
            let section = try #require(sections[column[0]], "no section on the table \(column[0])")
            #expect(section.contains("`\(column[1])`"), "no word of the column \(column.joined(separator: "."))")
        }
    }

    /// `missed` is never stored.
    @Test(arguments: [
        CircuitEvent.Kind.configured, .tripped, .probing, .probeExpired, .reopened, .closed, .reset, .held, .released,
        .probeAllowed, .proberDied, .forgotten, .degraded, .restored, .quarantined, .created, .stateRestored,
    ])
    func names(kind: CircuitEvent.Kind) throws {
        let section = try #require(try self.sections()["event"])
        #expect(section.contains("`\(kind.rawValue)`"))
    }

    @Test func saysWhatTheSourcesSay() throws {
        let text = try ForeignProgram.text()
        #expect(text.contains("0x" + String(Schema.applicationID, radix: 16, uppercase: true)))
        #expect(text.contains("schema \(Versions.schema)"))
        #expect(text.contains("- **Byte \(LockFile.link)** is the seat"))
        #expect(text.contains("`\(LinkOrder.fleet)`: other hosts"))
        #expect(text.contains("`" + String(decoding: LockFile.magic.dropLast(), as: UTF8.self) + "`"))
    }

    /// The program in Python runs each statement of the document, so that none can be wrong unnoticed.
    @Test func eachStatementIsRun() async throws {
        let place = try Workplace.here
        let worker = try await place.openWorker()
        try await worker.ask("breaker users consecutive=2")
        let python = try await ForeignProgram.open(in: place)
        let commands = [
            "register shop.py", "use users", "call users", "call users 1 succeed", "call users 2", "probe users ann",
            "reset users ann",
            "hold users open 1 ann", "release users ann", "history users", "workers", "close",
        ]
        for command in commands { try await python.ask(command) }
        #expect(try await python.ask("unused")["blocks"] == "")
        let blocks = try ForeignProgram.text().split(separator: "\n").filter { $0.hasPrefix("```sql") }
        #expect(!blocks.isEmpty && Set(blocks).count == blocks.count && !blocks.contains("```sql"))
    }

    /// What stands under each heading of a table.
    private func sections() throws -> [String: String] {
        var sections: [String: String] = [:]
        for part in try ForeignProgram.text().split(separator: "\n### `").dropFirst() {
            let name = part.prefix { $0 != "`" }
            sections[String(name)] = String(part.split(separator: "\n## ").first ?? "")
        }
        return sections
    }
}

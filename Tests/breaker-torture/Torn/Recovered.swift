/// What SQLite by itself finds in a store's files.
struct Recovered {
    private static let applicationID = "\(0x4272_6B53)"
    private static let version = 2_001
    private static let stepsOfAMajor = 1_000

    /// What must not be lost: circuits, failures, and the history of their changes, but those of the ones that opened
    /// it.
    private static let rows = [
        """
        SELECT name, state, epoch, open_until, trips, hold, hold_by, hold_reason FROM circuit
        WHERE name NOT GLOB 'after*'
        """,
        """
        SELECT c.name, f.at, f.worker, f.sequence FROM failure f JOIN circuit c ON c.id = f.circuit
        WHERE c.name NOT GLOB 'after*'
        """,
        """
        SELECT id, circuit, kind, at, was, becomes, reason FROM event
        WHERE kind IN ('tripped', 'reset', 'held') AND circuit NOT GLOB 'after*'
        """,
    ]

    let content: Set<String>
    /// Circuits whose rows no version of the library can have written, and that were registered anew, as the history
    /// says.
    private let removed: [String]
    /// What harms more than one row.
    let problems: [String]
    let schema: [String]?
    private let isReadable: Bool
    private let isWritable: Bool
    private let applicationID: String?
    private let version: Int?

    init(_ path: String) {
        let file = SQLiteFile(path)
        self.problems = (file.rows("PRAGMA integrity_check") ?? ["it can't be checked"]).filter { line in
            line != "ok" && !line.hasPrefix("CHECK constraint failed in ") && !line.contains(" value in ")
        }
        let rows = Self.rows.map { file.rows($0) }
        self.content = Set(rows.flatMap { $0 ?? [] })
        self.removed =
            file.rows(
                "SELECT circuit FROM event WHERE kind = 'configured' AND reason LIKE '%could not be read and was removed%'"
            ) ?? []
        self.isReadable = !rows.contains { $0 == nil }
        self.applicationID = file.rows("PRAGMA application_id")?.first
        self.version = file.rows("PRAGMA user_version")?.first.flatMap { Int($0) }
        self.schema = file.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2")
        self.isWritable = file.isWritable
    }

    /// The rows of `expected` that are not there.
    func lost(of expected: Recovered) -> [String] {
        expected.content.filter { row in
            !self.content.contains(row) && !self.removed.contains { row.hasPrefix("\($0)|") }
        }
    }

    /// Whether it is a store that can be used.
    var isWhole: Bool {
        self.problems.isEmpty && self.isReadable && self.isWritable && self.applicationID == Self.applicationID
            && self.version == Self.version
    }

    /// Whether it says that it is somebody else's, or of a later version, or has other tables than `schema`.
    func isRefusedLawfully(_ code: String, insteadOf schema: [String]?) -> Bool {
        switch code {
        case "foreignSchema": self.schema != schema || (self.version ?? 0) < Self.version
        case "notAStore": self.applicationID != Self.applicationID
        case "newerSchema": (self.version ?? 0) / Self.stepsOfAMajor > Self.version / Self.stepsOfAMajor
        default: false
        }
    }
}

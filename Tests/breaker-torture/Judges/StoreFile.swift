import BreakerStoreMigrations

/// What stands in a store's file, read by SQLite alone.
struct StoreFile {
    struct Event {
        var id: Int64
        var circuit: String?
        var kind: String
        var at: Int64
        var was: String?
        var becomes: String?
        var reason: String?
        var worker: Int64
        var by: String?
    }

    struct Circuit {
        var name: String
        var state: String
        var epoch: Int64
        /// Rises by one with each epoch, from one on.
        var windowGeneration: Int64
        var openUntil: Int64?
        var hold: String?
        var rules: LegalWalk.Rules
        /// How many events of each kind the circuit has had.
        var kinds: [String: Int] = [:]
    }

    struct Failure {
        var circuit: String
        var at: Int64
        var worker: Int64
        var sequence: Int64
    }

    private(set) var problems: [String] = []
    private(set) var offset: Int64 = 0
    /// Above the epochs of all circuits that were forgotten.
    private(set) var epochFloor: Int64 = 0
    private(set) var events: [Event] = []
    private(set) var circuits: [String: Circuit] = [:]
    private(set) var failures: [Failure] = []
    /// Rows that tell of workers, of which none lives.
    private(set) var traces: [String] = []

    /// - Parameter isChecked: whether the file is looked through.
    init(_ path: String, isChecked: Bool = true) {
        let database = SQLiteFile(path)
        for check in isChecked ? ["PRAGMA quick_check", "PRAGMA integrity_check"] : [] {
            self.problems += database.fields(check).map { $0[0] ?? "" }.filter { $0 != "ok" }
        }
        func number(_ text: String?) -> Int64 { text.flatMap { Int64($0) } ?? 0 }
        // All of one commit.
        _ = database.fields("BEGIN")
        let clock = database.fields("SELECT offset, epoch_floor FROM clock").first
        (self.offset, self.epochFloor) = (number(clock?[0]), number(clock?[1]))
        self.events = database.fields(
            "SELECT id, circuit, kind, at, was, becomes, reason, worker, operator FROM event ORDER BY id"
        ).map {
            Event(
                id: number($0[0]), circuit: $0[1], kind: $0[2] ?? "", at: number($0[3]), was: $0[4], becomes: $0[5],
                reason: $0[6], worker: number($0[7]), by: $0[8])
        }
        for row in database.fields(
            """
            SELECT name, state, epoch, window_generation, open_until, hold, rules ->> '$.trip.count',
            rules ->> '$.recovery.timeoutMicroseconds', rules ->> '$.recovery.multiplier',
            rules ->> '$.recovery.capMicroseconds', rules ->> '$.probes.leaseMicroseconds' FROM circuit
            """
        ) {
            let rules = LegalWalk.Rules(
                failures: Int(number(row[6])), recovery: number(row[7]),
                multiplier: row[8].flatMap { Double($0) } ?? 1, cap: number(row[9]), lease: number(row[10]))
            self.circuits[row[0] ?? ""] = Circuit(
                name: row[0] ?? "", state: row[1] ?? "", epoch: number(row[2]), windowGeneration: number(row[3]),
                openUntil: row[4].flatMap { Int64($0) }, hold: row[5], rules: rules)
        }
        for row in database.fields(
            """
            SELECT name, kind, count FROM transition JOIN circuit ON circuit.id = transition.circuit
            WHERE kind NOT LIKE 'outage:%'
            """
        ) {
            self.circuits[row[0] ?? ""]?.kinds[row[1] ?? ""] = Int(number(row[2]))
        }
        self.failures = database.fields(
            """
            SELECT circuit.name, failure.at, failure.worker, failure.sequence FROM failure
            LEFT JOIN circuit ON circuit.id = failure.circuit ORDER BY failure.worker, failure.sequence
            """
        ).map { Failure(circuit: $0[0] ?? "", at: number($0[1]), worker: number($0[2]), sequence: number($0[3])) }
        self.traces = database.fields(
            """
            SELECT 'worker ' || id FROM worker UNION ALL SELECT 'registration ' || worker FROM registration
            UNION ALL SELECT 'reserve' FROM sqlite_schema WHERE name = 'reserve'
            """
        ).map { $0[0] ?? "" }
        _ = database.fields("COMMIT")
        self.problems += database.errors
    }

    func events(of circuit: String) -> [Event] { self.events.filter { $0.circuit == circuit } }

    /// An empty store of the oldest schema that is migrated; false if it can't be made.
    static func makeOld(_ path: String) -> Bool {
        let database = SQLiteFile(path, creates: true)
        // "BrkS", as the library writes it.
        _ = database.fields("PRAGMA application_id = \(0x4272_6B53)")
        let step = Migration.all[0]
        guard SQLiteFile.run(path, step.parts.joined()) else { return false }
        _ = database.fields("PRAGMA user_version = \(step.version)")
        return database.fields("PRAGMA journal_mode = WAL").first?[0] == "wal"
    }
}

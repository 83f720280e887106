extension KillLoop {
    /// What stands in a file, read by SQLite alone.
    struct File {
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
            var openUntil: Int64?
            var hold: String?
        }

        struct Failure {
            var circuit: String
            var at: Int64
            var worker: Int64
            var sequence: Int64
        }

        private(set) var problems: [String] = []
        private(set) var offset: Int64 = 0
        private(set) var events: [Event] = []
        private(set) var circuits: [Circuit] = []
        private(set) var failures: [Failure] = []
        /// Rows that tell of workers, of which none lives.
        private(set) var traces: [String] = []

        init(_ path: String) {
            guard let database = Connection(path) else {
                self.problems = ["it can't be opened"]
                return
            }
            for check in ["PRAGMA quick_check", "PRAGMA integrity_check"] {
                self.problems += database.rows(check).map { $0[0] ?? "" }.filter { $0 != "ok" }
            }
            func number(_ text: String?) -> Int64 { text.flatMap { Int64($0) } ?? 0 }
            self.offset = number(database.rows("SELECT offset FROM clock").first?[0])
            self.events = database.rows(
                "SELECT id, circuit, kind, at, was, becomes, reason, worker, operator FROM event ORDER BY id"
            ).map {
                Event(
                    id: number($0[0]), circuit: $0[1], kind: $0[2] ?? "", at: number($0[3]), was: $0[4], becomes: $0[5],
                    reason: $0[6], worker: number($0[7]), by: $0[8])
            }
            self.circuits = database.rows("SELECT name, state, epoch, open_until, hold FROM circuit").map {
                Circuit(
                    name: $0[0] ?? "", state: $0[1] ?? "", epoch: number($0[2]), openUntil: $0[3].flatMap { Int64($0) },
                    hold: $0[4])
            }
            self.failures = database.rows(
                """
                SELECT circuit.name, failure.at, failure.worker, failure.sequence FROM failure
                LEFT JOIN circuit ON circuit.id = failure.circuit ORDER BY failure.worker, failure.sequence
                """
            ).map { Failure(circuit: $0[0] ?? "", at: number($0[1]), worker: number($0[2]), sequence: number($0[3])) }
            self.traces = database.rows(
                """
                SELECT 'worker ' || id FROM worker UNION ALL SELECT 'registration ' || worker FROM registration
                UNION ALL SELECT 'reserve' FROM sqlite_schema WHERE name = 'reserve'
                """
            ).map { $0[0] ?? "" }
            self.problems += database.errors
        }

        /// A store of a version before the first; false if it can't be made.
        static func makeOld(_ path: String) -> Bool {
            guard let database = Connection(path) else { return false }
            // "BrkS", as the library writes it.
            _ = database.rows("PRAGMA application_id = \(0x4272_6B53)")
            _ = database.rows("PRAGMA user_version = 1")
            _ = database.rows("CREATE TABLE older (x INTEGER NOT NULL) STRICT")
            return database.rows("PRAGMA journal_mode = WAL").first?[0] == "wal"
        }
    }
}

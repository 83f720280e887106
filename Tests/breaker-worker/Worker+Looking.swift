import BreakerStore
import CSQLite
import CTestSupport
import FoundationEssentials

/// Looking at circuits, and at what lies in the file.
extension Worker {
    /// `look <circuit>`: all that can be seen of it; without a handle, of its row.
    func look(_ command: Command) throws -> String {
        let name = try command.word(0)
        guard let seen = try self.store.circuit(named: name) else { return "state=unknown" }
        let handle = self.breakers[name].map { " counted=\($0.failureCount) permitted=\($0.isCallPermitted)" }
        return "\(Self.text(seen.state)) failures=\(seen.failures.count) epoch=\(seen.epoch)"
            + " since=\(Self.microseconds(seen.since)) trips=\(seen.tripsInARow) probes=\(seen.probes.count)"
            + " workers=\(seen.workers)\(handle ?? "")"
    }

    /// `ask <circuit> <times>`: asks everything that only looks.
    func ask(_ command: Command) throws -> String {
        let store = try self.store
        let breaker = try self.breaker(command.word(0))
        for _ in 0..<(try command.number(1)) {
            _ = breaker.state
            _ = breaker.isCallPermitted
            _ = breaker.failureCount
            _ = breaker.config
            _ = try store.circuits()
            _ = try store.circuit(named: breaker.name)
            _ = try store.history(of: breaker.name)
            _ = try store.workers()
            _ = store.health
        }
        return "ok"
    }

    /// `states <circuit> <times>`: the states that so many reads tell, each once, and how many there are.
    func readStates(_ command: Command) throws -> String {
        let breaker = try self.breaker(command.word(0))
        let store = try self.store
        var states: Set<CircuitState> = []
        for _ in 0..<(try command.number(1)) {
            states.insert(breaker.state)
            if let seen = try store.circuit(named: breaker.name) { states.insert(seen.state) }
        }
        return "count=\(states.count) \(states.first.map(Self.text) ?? "")"
    }

    private static func text(_ state: CircuitState) -> String {
        switch state {
        case .closed: "state=closed"
        case .open(let until): "state=open until=\(Self.microseconds(until))"
        case .halfOpen: "state=half-open"
        case .held(let hold, until: _): "state=held-\(hold.rawValue)"
        }
    }

    private static func microseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1_000_000).rounded())
    }

    /// `history <circuit> <kind>`: how often that happened, and whether the stamps are in order.
    func history(_ command: Command) throws -> String {
        let events = try self.store.history(of: command.word(0), limit: 10_000)
        let kind = try command.word(1)
        let inOrder = zip(events, events.dropFirst()).allSatisfy { $0.at >= $1.at && $0.id > $1.id }
        return "count=\(events.filter { $0.kind.rawValue == kind }.count) ordered=\(inOrder)"
    }

    /// `reason <circuit>`: what the newest trip says, its words joined by hyphens.
    func tellReason(_ command: Command) throws -> String {
        let trip = try self.store.history(of: command.word(0)).first { $0.kind == .tripped }
        return "reason=\((trip?.reason ?? "none").replacing(" ", with: "-"))"
    }

    /// `workers`: the processes that live, as the store knows them.
    func workers() throws -> String {
        let workers = try self.store.workers()
        return "count=\(workers.count) pids=\(workers.map { "\($0.pid)" }.sorted().joined(separator: ","))"
    }

    /// `query <path> <sql>`: the first row, its columns separated by commas.
    func query(_ command: Command) throws -> String {
        var database: OpaquePointer?
        let flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX
        defer { unsafe sqlite3_close_v2(database) }
        guard try unsafe sqlite3_open_v2(command.word(0), &database, flags, nil) == SQLITE_OK else {
            throw Missing(what: "a readable database")
        }
        // A checkpoint on closing would be a write of ours.
        _ = unsafe bs_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        unsafe sqlite3_busy_timeout(database, 5_000)
        var statement: OpaquePointer?
        defer { unsafe sqlite3_finalize(statement) }
        guard unsafe sqlite3_prepare_v2(database, command.rest(1), -1, &statement, nil) == SQLITE_OK,
            unsafe sqlite3_step(statement) == SQLITE_ROW
        else { throw Missing(what: unsafe String(cString: sqlite3_errmsg(database))) }
        let values = unsafe (0..<sqlite3_column_count(statement)).map { column in
            unsafe sqlite3_column_text(statement, column).map { unsafe String(cString: $0) } ?? ""
        }
        return "row=\(values.joined(separator: ","))"
    }
}

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Reads the store for an operator, as of one instant, without changing anything.
package struct StoreInspection {
    let view: StoreView
    private let reading: ReadingMoment

    init(_ view: StoreView) {
        self.view = view
        self.reading = ReadingMoment(view.clock, isAlive: view.isAlive)
    }

    /// The time of this reading; see `InspectedCircuit.now`.
    package var now: Date { self.reading.today }

    /// The result of a search for circuits.
    package struct Found<Value> {
        package var value: Value
        /// The circuits whose rows can't be read, by name.
        package var unreadable: [UnreadableCircuit] = []
        /// Whether a pattern found at least one circuit, or all circuits were selected and there is at least one.
        package var isBroad: Bool
        /// A name that must be there but is not; then no circuit was read.
        package var missing: String?

        /// This result, with the unreadable circuits ordered by name.
        fileprivate var sorted: Self {
            var sorted = self
            sorted.unreadable.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            return sorted
        }
    }

    /// Passes the selected circuits to `body` one by one, each once, so that many take no memory.
    ///
    /// The order is undefined: by name, SQLite would read most pages of a large file again and again.
    ///
    /// - Parameters:
    ///   - selectors: the circuits; nil for all.
    ///   - countsWorkers: whether to count the workers that have registered each circuit.
    ///   - initial: the value to which `body` adds.
    package func circuits<Value>(
        _ selectors: [CircuitSelector]?,
        countingWorkers countsWorkers: Bool = true,
        into initial: Value,
        _ body: (inout Value, InspectedCircuit) -> Void
    ) throws(BreakerStoreError) -> Found<Value> {
        try self.records(selectors, withWorkers: countsWorkers, into: initial) { value, record in
            body(&value, record.inspected(by: self.reading))
        }
    }

    /// The selected circuits, to be described again later without reading the file.
    package func image(of selectors: [CircuitSelector]?) throws(BreakerStoreError) -> Found<StoreImage> {
        let found = try self.records(selectors, withWorkers: true, into: [CircuitRecord]()) { $0.append($1) }
        let records = found.value.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let image = StoreImage(
            records: records, unreadable: found.unreadable, workers: try self.view.database.workers().map(\.worker.id),
            clock: self.view.clock, file: self.view.file, birth: try ClockRow.read(self.view.database)?.birth,
            isAlive: self.view.isAlive)
        return Found(value: image, unreadable: found.unreadable, isBroad: found.isBroad, missing: found.missing)
    }

    /// Whether there is a circuit of this name, even one whose row can't be read.
    package func hasCircuit(_ name: String) throws(BreakerStoreError) -> Bool {
        try !self.view.database.select([.namedIfPresent(name)]).circuits.isEmpty
    }

    package func names() throws(BreakerStoreError) -> [String] {
        try self.view.database.names()
    }

    package var link: LinkStanding { LinkStanding(at: self.view.file) }

    /// The workers that live.
    package func workers() throws(BreakerStoreError) -> [WorkerSnapshot] { try self.view.livingWorkers() }

    /// The newest events, newest first.
    package func history(of name: String?, limit: Int) throws(BreakerStoreError) -> [CircuitEvent] {
        self.events(try self.view.database.events(of: try self.called(name), limit: limit))
    }

    /// The oldest events with higher numbers than `id`, oldest first; see `Database.start(after:)`.
    package func history(of name: String?, after id: Int64, limit: Int) throws(BreakerStoreError) -> [CircuitEvent] {
        let database = self.view.database
        let start = try database.start(after: id)
        return self.events(try database.events(of: try self.called(name), after: start, limit: limit).events)
    }

    /// The name of the only circuit that has this name or is shown under it; else the text itself.
    private func called(_ name: String?) throws(BreakerStoreError) -> String? {
        guard let name else { return nil }
        let found = try self.view.database.select([.namedIfPresent(name)]).circuits
        return found.count == 1 ? found.first?.name : name
    }

    /// How many events of each kind a circuit has had; only programs that know schema 1.1 count them.
    package func transitions(of name: String) throws(BreakerStoreError) -> [(kind: CircuitEvent.Kind, count: Int64)] {
        try self.view.database.transitions(of: name)
    }

    /// The file's schema, such as `1.0`.
    package func schemaVersion() throws(BreakerStoreError) -> String {
        Versions.text(ofSchema: try self.view.database.connection.integer("PRAGMA user_version"))
    }

    /// When the file was created; nil if an older release has created it.
    package func creation() throws(BreakerStoreError) -> StoreCreation? {
        try StoreCreation.read(self.view.database, self.reading.date)
    }

    /// The size of the database in bytes, without its log.
    package var fileSize: Int64 { StoreFile.size(self.view.file.path) ?? 0 }

    package func newestEvent() throws(BreakerStoreError) -> Int64 {
        try self.view.database.newestEvent()
    }

    /// All events with higher numbers than `id`, oldest first; see `Database.start(after:)`.
    package func history(after id: Int64) throws(BreakerStoreError) -> [CircuitEvent] {
        var stored: [StoredEvent] = []
        var last = try self.view.database.start(after: id)
        while true {
            let page = try self.view.database.events(after: last)
            guard let end = page.last else { break }
            stored += page.events
            last = end
        }
        return self.events(stored)
    }

    private func events(_ stored: [StoredEvent]) -> [CircuitEvent] {
        stored.map { CircuitEvent($0, self.view.isOwn, self.reading.date) }
    }

    private func records<Value>(
        _ selectors: [CircuitSelector]?,
        withWorkers: Bool,
        into initial: Value,
        _ body: (inout Value, CircuitRecord) -> Void
    ) throws(BreakerStoreError) -> Found<Value> {
        let database = self.view.database
        let board = self.view.board
        func counted(_ finding: FoundCircuit) throws(BreakerStoreError) -> FoundCircuit {
            guard case .record(var record) = finding else { return finding }
            try record.stored.take(board, from: database)
            return .record(record)
        }
        var found = Found(value: initial, isBroad: false, missing: nil)
        guard let selectors else {
            try database.records(of: nil, withWorkers: withWorkers) { (finding) throws(BreakerStoreError) in
                found.isBroad = true
                self.take(try counted(finding), isNamed: false, into: &found, body)
            }
            return found.sorted
        }
        let selected = try database.select(selectors)
        found.missing = selected.missing.first
        if found.missing != nil { return found }
        found.isBroad = selected.isBroad
        // Ordered by number, as in the file: in another order, SQLite would read pages of a large file again and again.
        for circuit in selected.circuits.sorted(by: { $0.id < $1.id }) {
            try database.records(of: circuit.id, withWorkers: withWorkers) { (finding) throws(BreakerStoreError) in
                self.take(try counted(finding), isNamed: circuit.mustBeThere, into: &found, body)
            }
        }
        return found.sorted
    }

    private func take<Value>(
        _ finding: FoundCircuit,
        isNamed: Bool,
        into found: inout Found<Value>,
        _ body: (inout Value, CircuitRecord) -> Void
    ) {
        switch finding {
        case .record(let record): body(&found.value, record)
        case .unreadable(let name, let registered):
            let workers = registered.count(where: self.reading.isAlive)
            found.unreadable.append(UnreadableCircuit(name: name, isNamed: isNamed, workers: workers))
        }
    }
}

extension Database {
    /// The number after which to read on, for a caller that knows all events up to `id`.
    ///
    /// If the file has not reached `id`, another file has taken the store's place: all of its events are new.
    func start(after id: Int64) throws(BreakerStoreError) -> Int64 { try id <= self.newestEvent() ? id : 0 }
}

extension CircuitStore {
    /// Runs `body` on the file as of one instant.
    ///
    /// Runs it again from the start if a process changed the file meanwhile in a way that this reading would not
    /// notice. Throws if the file can't be read, `closed` or `forked`. Reads on the calling thread.
    package func inspect<Value>(
        _ body: (StoreInspection) throws(BreakerStoreError) -> Value
    ) throws(BreakerStoreError) -> Value {
        try self.view { (view) throws(BreakerStoreError) in try body(StoreInspection(view)) }
    }
}

/// The result of reading a circuit's row.
enum FoundCircuit {
    case record(CircuitRecord)
    /// A row that no version of this library can have written, with the workers that have registered the circuit.
    case unreadable(name: String, registered: [Int64])
}

extension Database {
    private static let allRecords = Database.selectRecords("true ORDER BY id")
    private static let oneRecord = Database.selectRecords("id = ?1")

    private static func selectRecords(_ which: String) -> SQL {
        CircuitColumn.select {
            """
            SELECT \($0), name, EXISTS (SELECT 1 FROM failure WHERE failure.circuit = circuit.id)
            FROM circuit WHERE \(which)
            """
        }
    }

    /// Passes the circuit of this number to `body`, or all circuits in no order.
    func records(
        of id: Int64?,
        withWorkers: Bool,
        _ body: (FoundCircuit) throws(BreakerStoreError) -> Void
    ) throws(BreakerStoreError) {
        let (sql, values) = id.map { (Self.oneRecord, [SQLValue.integer($0)]) } ?? (Self.allRecords, [])
        try self.forEach(sql, values) { row throws(BreakerStoreError) in
            try body(try self.finding(row, withWorkers: withWorkers))
        }
    }

    private func finding(_ row: Row, withWorkers: Bool) throws(BreakerStoreError) -> FoundCircuit {
        let extra = CircuitRow.columnCount
        let name = row.text(extra)
        // A name that is not UTF-8 can't be given back to SQLite.
        guard row.isUTF8(name, extra),
            let found = try? CircuitRow(row, name: name, in: self)
        else { return .unreadable(name: name, registered: try self.registered(row.integer(0))) }
        var record = CircuitRecord(name: name, stored: StoredCircuit(row: found), registered: [])
        // Most circuits have neither failures nor probes: then no statement looks for them.
        if row.integer(extra + 1) != 0 {
            record.stored.failures = try self.failures(of: found)
        }
        if case .halfOpen = found.circuit.state {
            record.stored.row.circuit.probes = try self.probes(of: found.id, under: found.circuit.rules)
        }
        if withWorkers { record.registered = try self.registered(found.id) }
        return .record(record)
    }

    /// The workers that have registered a circuit, dead or alive.
    private func registered(_ circuit: Int64) throws(BreakerStoreError) -> [Int64] {
        try self.all("SELECT worker FROM registration WHERE circuit = ?1 LIMIT 10000", .integer(circuit)) {
            $0.integer(0)
        }
    }
}

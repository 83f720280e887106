#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Reads the store for an operator, without changing anything.
extension StoreView {
    /// The time of this reading; see `InspectedCircuit.now`.
    package var now: Date { self.moment.nowDate }

    /// The result of a search for circuits.
    package struct Found<Value> {
        package var value: Value
        /// The workers at the time of the reading.
        package var live: LiveWorkers
        /// The circuits whose rows can't be read, by name.
        package var unreadable: [UnreadableCircuit] = []
        /// Whether a pattern found at least one circuit, or all circuits were selected.
        package var isBroad: Bool
        /// A name that no circuit has, though one must; then no circuit was read.
        package var missing: String?
    }

    /// Passes the selected circuits to `body` one by one, each once, so that many circuits need little memory.
    ///
    /// The order is undefined: in the order of names, SQLite would read most pages of a large file many times.
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
        try self.stored(selectors, withWorkers: countsWorkers, into: initial) { value, circuit in
            body(&value, circuit.inspected(at: self.moment))
        }
    }

    /// The selected circuits, to be described again later without reading the file.
    package func image(of selectors: [CircuitSelector]?) throws(BreakerStoreError) -> Found<StoreImage> {
        let found = try self.stored(selectors, withWorkers: true, into: [StoredCircuit]()) { $0.append($1) }
        let stored = found.value.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let image = StoreImage(
            stored: stored, unreadable: found.unreadable, workers: try self.database.workers(),
            clock: self.clock, file: self.file, schema: self.schema, incarnation: self.incarnation,
            isAlive: self.isAlive)
        return Found(
            value: image, live: found.live, unreadable: found.unreadable, isBroad: found.isBroad, missing: found.missing
        )
    }

    /// Whether there is a circuit of this name, even one whose row can't be read.
    package func hasCircuit(_ name: String) throws(BreakerStoreError) -> Bool {
        try !self.database.select([.namedIfPresent(name)]).circuits.isEmpty
    }

    /// The names of all circuits, in order.
    package func names() throws(BreakerStoreError) -> [String] { try self.database.names() }

    package var link: LinkStanding { LinkStanding(at: self.file) }

    /// The newest events, newest first.
    package func history(of name: String?, limit: Int) throws(BreakerStoreError) -> [CircuitEvent] {
        self.events(try self.database.events(of: try self.called(name), limit: limit))
    }

    /// The oldest events with higher ids than `id`, oldest first; see `Database.start(after:)`.
    package func history(of name: String?, after id: Int64, limit: Int) throws(BreakerStoreError) -> [CircuitEvent] {
        let database = self.database
        let start = try database.start(after: id)
        return self.events(try database.events(of: try self.called(name), after: start, limit: limit).events)
    }

    /// The name of the only circuit that has this name or is shown under it; else the text itself.
    private func called(_ name: String?) throws(BreakerStoreError) -> String? {
        guard let name else { return nil }
        let found = try self.database.select([.namedIfPresent(name)]).circuits
        return found.count == 1 ? found.first?.name : name
    }

    /// How many events of each kind a circuit has had, and how many calls its outages have hurt (`OutageSum`).
    package func transitions(of name: String) throws(BreakerStoreError) -> [(kind: CircuitEvent.Kind, count: Int64)] {
        try self.database.transitions(of: name)
    }

    /// The file's schema, such as `1.0`.
    package func schemaVersion() throws(BreakerStoreError) -> String {
        Versions.text(ofSchema: self.schema)
    }

    /// When the file was created; nil if an older release has created it.
    package func creation() throws(BreakerStoreError) -> StoreCreation? {
        try StoreCreation.read(self.database, self.moment.date, now: self.now)
    }

    /// The size of the database in bytes, without its log.
    package var fileSize: Int64 { StoreFile.size(self.file.path) ?? 0 }

    package func newestEvent() throws(BreakerStoreError) -> Int64 {
        try self.database.newestEvent()
    }

    /// All events with higher ids than `id`, oldest first; see `Database.start(after:)`.
    package func history(after id: Int64) throws(BreakerStoreError) -> [CircuitEvent] {
        var stored: [StoredEvent] = []
        var last = try self.database.start(after: id)
        while true {
            let page = try self.database.events(after: last)
            guard let end = page.last else { break }
            stored += page.events
            last = end
        }
        return self.events(stored)
    }

    private func events(_ stored: [StoredEvent]) -> [CircuitEvent] {
        stored.map { CircuitEvent($0, self.isOwn, self.moment.date) }
    }

    private func stored<Value>(
        _ selectors: [CircuitSelector]?, withWorkers: Bool, into initial: Value,
        _ body: (inout Value, StoredCircuit) -> Void
    ) throws(BreakerStoreError) -> Found<Value> {
        let database = self.database
        let board = self.board
        // A damaged history must not hide the circuits.
        let start = self.moment.now.subtracting(InspectedCircuit.tripWindow.saturatingMicroseconds)
        let trips = (try? database.trips(since: start)) ?? [:]
        var found = Found(value: initial, live: try self.liveWorkers(), isBroad: false, missing: nil)
        func read(_ search: CircuitSearch, isNamed: Bool) throws(BreakerStoreError) {
            try database.circuits(
                search, countedOn: board, withWorkers: withWorkers,
                orElse: { (name, id) throws(BreakerStoreError) in
                    let workers = try database.workers(using: id).count(where: self.moment.isAlive)
                    found.unreadable.append(UnreadableCircuit(name: name, isNamed: isNamed, workers: workers))
                },
                while: { circuit in
                    var circuit = circuit
                    if let times = trips[CircuitName(circuit.name)] { circuit.trips = times }
                    body(&found.value, circuit)
                    return true
                })
        }
        if let selectors {
            let selected = try database.select(selectors)
            found.missing = selected.missing.first
            if found.missing != nil { return found }
            found.isBroad = selected.isBroad
            // Ordered by id, as without selectors.
            for circuit in selected.circuits.sorted(by: { $0.id < $1.id }) {
                try read(.numbered(circuit.id), isNamed: circuit.mustBeThere)
            }
        } else {
            found.isBroad = true
            try read(.all, isNamed: false)
        }
        found.unreadable.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return found
    }
}

extension Database {
    /// The id after which to continue, for a caller that has read all events up to `id`.
    ///
    /// If the file has no event with so high an id, another file has taken the store's place: all its events are new.
    func start(after id: Int64) throws(BreakerStoreError) -> Int64 { try id <= self.newestEvent() ? id : 0 }
}

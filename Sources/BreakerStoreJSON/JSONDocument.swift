package import BreakerStore

/// The documents that `breaker-inspect` prints, each on one line; docs/breaker-inspect.schema.json describes them.
///
/// They are made of the library's values, so that other programs of this package can print the same.
package enum JSONDocument {
    // MARK: - Circuits

    /// A circuit that has changed since the list.
    package static func changed(_ circuit: SeenCircuit) -> String {
        JSONValue.document(["circuit": .object(JSONValue.circuit(circuit)), "event": .string("changed")])
    }

    /// A circuit that is gone since the list.
    package static func forgotten(_ name: String) -> String {
        JSONValue.document(["event": .string("forgotten"), "name": .string(name)])
    }

    /// All about one circuit.
    ///
    /// - Parameters:
    ///   - circuit: the circuit.
    ///   - events: its newest events, newest first, as the history gives them.
    ///   - link: how the store is joined with those of other hosts; nil without a link.
    ///   - creation: when the file was created, and in place of which lost file; nil where that is unknown.
    package static func detail(
        of circuit: SeenCircuit, events: [CircuitEvent], link: SeenLink?, creation: SeenCreation? = nil
    ) -> String {
        JSONValue.document([
            "circuit": .object(JSONValue.detail(of: circuit)),
            "events": .array(events.reversed().map { .event($0) }),
            "link": .link(link),
            "created": creation.map { .creation($0) } ?? .null,
        ])
    }

    /// The result of a health check.
    package static func check(
        ofCount count: Int, notClosed: [SeenCircuit], unreadable: [String]
    ) -> String {
        JSONValue.document([
            "checked": .count(count),
            "isClosed": .bool(notClosed.isEmpty && unreadable.isEmpty),
            "notClosed": .array(notClosed.map { .object(JSONValue.circuit($0)) }),
            "unreadable": .texts(unreadable),
        ])
    }

    /// How the wait for a circuit's state ended.
    package static func waited(for circuit: SeenCircuit?, isReached: Bool) -> String {
        JSONValue.document([
            "circuit": circuit.map { .object(JSONValue.circuit($0)) } ?? .null, "isReached": .bool(isReached),
        ])
    }

    /// Writes an operator's changes, made or only planned, piece by piece: there may be very many.
    ///
    /// - Parameters:
    ///   - changes: the changes, each with the members that its verb adds.
    ///   - isDryRun: whether nothing was changed.
    ///   - unreadable: the names of circuits that could not be read.
    package static func writeChanges(
        _ changes: some Sequence<(name: String, from: String, to: String, more: [String: JSONValue])>, isDryRun: Bool,
        unreadable: [String], _ write: (String) -> Void
    ) {
        write("{\"changes\":[")
        var text = ""
        for change in changes {
            let states: [String: JSONValue] = [
                "from": .string(change.from), "name": .string(change.name), "to": .string(change.to),
            ]
            JSONValue.object(states.merging(change.more) { state, _ in state }).append(to: &text)
            write(text)
            text = ","
        }
        var names = ""
        JSONValue.texts(unreadable).append(to: &names)
        write("],\"dryRun\":\(isDryRun),\"unreadable\":\(names),\"version\":1}\n")
    }

    // MARK: - Events and workers

    /// Events, in the order given.
    package static func history(_ events: [CircuitEvent]) -> String {
        JSONValue.document(["events": .array(events.map { .event($0) })])
    }

    /// An event since the history.
    package static func event(_ event: CircuitEvent) -> String { JSONValue.document(["event": .event(event)]) }

    package static func workers(_ workers: [WorkerSnapshot], link: SeenLink?) -> String {
        JSONValue.document(["link": .link(link), "workers": .array(workers.map { .worker($0) })])
    }

    // MARK: - The store and the tool

    /// The findings of the doctor.
    package static func findings(
        _ findings: [(check: String, status: String, finding: String, advice: String?)], isHealthy: Bool
    ) -> String {
        let values = findings.map {
            JSONValue.object([
                "advice": .text($0.advice), "check": .string($0.check), "finding": .string($0.finding),
                "status": .string($0.status),
            ])
        }
        return JSONValue.document(["findings": .array(values), "isHealthy": .bool(isHealthy)])
    }

    /// A file that was moved away; without `kept`, it only would be.
    package static func setAside(_ path: String, as kept: String?) -> String {
        JSONValue.document(["kept": .text(kept), "path": .string(path)])
    }

    /// The verbs of a program.
    package static func help(_ verbs: [JSONValue]) -> String { JSONValue.document(["verbs": .array(verbs)]) }

    /// The versions of a program and of what it uses.
    package static func versions(tool: String, schema: String, sqlite: String) -> String {
        JSONValue.document(["schema": .string(schema), "sqlite": .string(sqlite), "tool": .string(tool)])
    }
}

package import BreakerStore

/// The documents that `breaker-inspect` prints, each on one line; docs/breaker-inspect.schema.json describes them.
///
/// They are made from the library's values, so that other programs of this package can print the same.
///
/// `degraded` describes the workers that couldn't use the file when it was read; nil if all could.
package enum JSONDocument {
    // MARK: - Circuits

    /// A circuit that has changed since the list was printed.
    package static func changed(_ circuit: SeenCircuit, degraded: SeenDegraded?) -> String {
        JSONValue.document([
            "circuit": .object(JSONValue.circuit(circuit)), "degraded": .degraded(degraded),
            "event": .string("changed"),
        ])
    }

    /// A circuit that was forgotten since the list was printed.
    package static func forgotten(_ name: String, degraded: SeenDegraded?) -> String {
        JSONValue.document([
            "degraded": .degraded(degraded), "event": .string("forgotten"), "name": .string(name),
        ])
    }

    /// Workers can't use the file any longer, or can use it again.
    package static func workersChanged(degraded: SeenDegraded?) -> String {
        JSONValue.document([
            "degraded": .degraded(degraded), "event": .string(degraded == nil ? "recovered" : "degraded"),
        ])
    }

    /// All about one circuit.
    ///
    /// - Parameters:
    ///   - circuit: the circuit.
    ///   - events: the circuit's newest events, newest first.
    ///   - link: the link that joins the store with those of other hosts; nil without a link.
    ///   - creation: the file's creation; nil if it is unknown.
    package static func detail(
        of circuit: SeenCircuit, events: [CircuitEvent], link: SeenLink?, degraded: SeenDegraded?,
        creation: SeenCreation? = nil
    ) -> String {
        JSONValue.document([
            "circuit": .object(JSONValue.detail(of: circuit)),
            "degraded": .degraded(degraded),
            "events": .array(events.reversed().map { .event($0) }),
            "link": .link(link),
            "created": creation.map { .creation($0) } ?? .null,
        ])
    }

    /// The result of a health check.
    ///
    /// - Parameter isRefusing: whether any of the circuits refuses calls now.
    package static func check(
        ofCount count: Int, notClosed: [SeenCircuit], isRefusing: Bool, unreadable: [String], degraded: SeenDegraded?
    ) -> String {
        JSONValue.document([
            "checked": .count(count),
            "degraded": .degraded(degraded),
            "isClosed": .bool(notClosed.isEmpty && unreadable.isEmpty),
            "isRefusing": .bool(isRefusing),
            "notClosed": .array(notClosed.map { .object(JSONValue.circuit($0)) }),
            "unreadable": .texts(unreadable),
        ])
    }

    /// The result of waiting for a circuit's state.
    package static func waited(for circuit: SeenCircuit?, isReached: Bool, degraded: SeenDegraded?) -> String {
        JSONValue.document([
            "circuit": circuit.map { .object(JSONValue.circuit($0)) } ?? .null, "degraded": .degraded(degraded),
            "isReached": .bool(isReached),
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
        unreadable: [String], degraded: SeenDegraded?, _ write: (String) -> Void
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
        var (names, workers) = ("", "")
        JSONValue.texts(unreadable).append(to: &names)
        JSONValue.degraded(degraded).append(to: &workers)
        write("],\"degraded\":\(workers),\"dryRun\":\(isDryRun),\"unreadable\":\(names),\"version\":1}\n")
    }

    // MARK: - Events and workers

    /// Events, in the order given.
    package static func history(_ events: [CircuitEvent], degraded: SeenDegraded?) -> String {
        JSONValue.document(["degraded": .degraded(degraded), "events": .array(events.map { .event($0) })])
    }

    /// An event that is newer than the printed history.
    package static func event(_ event: CircuitEvent, degraded: SeenDegraded?) -> String {
        JSONValue.document(["degraded": .degraded(degraded), "event": .event(event)])
    }

    /// The live workers that have a row.
    ///
    /// - Parameter outside: the ids of those that run a release that can't use the file.
    package static func workers(
        _ workers: [WorkerSnapshot], outside: [WorkerSnapshot.ID], link: SeenLink?, degraded: SeenDegraded?
    ) -> String {
        JSONValue.document([
            "degraded": .degraded(degraded), "link": .link(link),
            "workers": .array(workers.map { .worker($0, isOutside: outside.contains($0.id)) }),
        ])
    }

    // MARK: - The store and the tool

    /// The findings of the doctor.
    package static func findings(
        _ findings: [(check: String, status: String, finding: String, advice: String?)], isHealthy: Bool,
        degraded: SeenDegraded?
    ) -> String {
        let values = findings.map {
            JSONValue.object([
                "advice": .text($0.advice), "check": .string($0.check), "finding": .string($0.finding),
                "status": .string($0.status),
            ])
        }
        return JSONValue.document([
            "degraded": .degraded(degraded), "findings": .array(values), "isHealthy": .bool(isHealthy),
        ])
    }

    /// A file that was moved away; without a new name, one that would be moved away.
    package static func setAside(_ path: String, as newName: String?) -> String {
        JSONValue.document(["kept": .text(newName), "path": .string(path)])
    }

    /// Outages, the newest first.
    package static func outages(_ outages: [SeenOutage], degraded: SeenDegraded?) -> String {
        JSONValue.document(["degraded": .degraded(degraded), "outages": .array(outages.map { .outage($0) })])
    }

    /// The verbs of a program.
    package static func help(_ verbs: [JSONValue]) -> String { JSONValue.document(["verbs": .array(verbs)]) }

    /// The versions of a program and of what it uses.
    package static func versions(tool: String, schema: String, sqlite: String) -> String {
        JSONValue.document(["schema": .string(schema), "sqlite": .string(sqlite), "tool": .string(tool)])
    }
}

extension JSONValue {
    /// A verb as `help` prints it.
    package static func verb(
        name: String, usage: String, summary: String, options: [(name: String, value: String?, help: String)]
    ) -> JSONValue {
        let options = options.map {
            JSONValue.object(["help": .string($0.help), "name": .string($0.name), "value": .text($0.value)])
        }
        return .object([
            "name": .string(name), "options": .array(options), "summary": .string(summary), "usage": .string(usage),
        ])
    }
}

package import BreakerStore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The documents that `breaker-inspect` prints, each on one line; docs/breaker-inspect.schema.json describes them.
///
/// They are made of the library's public values, so that other programs of this package can print the same.
package enum JSONDocument {
    // MARK: - Circuits

    /// A circuit has changed since the list.
    package static func changed(_ circuit: CircuitSnapshot, at now: Date) -> String {
        JSONValue.document(["circuit": .object(JSONValue.circuit(circuit, at: now)), "event": .string("changed")])
    }

    /// A circuit is gone since the list.
    package static func forgotten(_ name: String) -> String {
        JSONValue.document(["event": .string("forgotten"), "name": .string(name)])
    }

    /// All of one circuit.
    ///
    /// - Parameters:
    ///   - circuit: the circuit.
    ///   - events: its newest events, newest first, as the history gives them.
    ///   - workers: those that live.
    ///   - now: the time.
    package static func detail(
        of circuit: CircuitSnapshot, events: [CircuitEvent], workers: [WorkerSnapshot], at now: Date
    ) -> String {
        JSONValue.document([
            "circuit": .object(JSONValue.circuit(circuit, probedBy: workers, at: now)),
            "events": .array(events.reversed().map { .event($0) }),
        ])
    }

    /// What a health check found.
    package static func check(
        ofCount count: Int, notClosed: [CircuitSnapshot], unreadable: [String], at now: Date
    ) -> String {
        JSONValue.document([
            "checked": .count(count),
            "isClosed": .bool(notClosed.isEmpty && unreadable.isEmpty),
            "notClosed": .array(notClosed.map { .object(JSONValue.circuit($0, at: now)) }),
            "unreadable": .texts(unreadable),
        ])
    }

    /// How waiting for a circuit's state ended.
    package static func waited(for circuit: CircuitSnapshot?, isReached: Bool, at now: Date) -> String {
        JSONValue.document([
            "circuit": circuit.map { .object(JSONValue.circuit($0, at: now)) } ?? .null, "isReached": .bool(isReached),
        ])
    }

    /// What an operator changed, or would change.
    package static func changes(
        _ changes: [(name: String, from: String, to: String)], isDryRun: Bool, unreadable: [String]
    ) -> String {
        let values = changes.map {
            JSONValue.object(["from": .string($0.from), "name": .string($0.name), "to": .string($0.to)])
        }
        return JSONValue.document([
            "changes": .array(values), "dryRun": .bool(isDryRun), "unreadable": .texts(unreadable),
        ])
    }

    // MARK: - Events and workers

    /// What happened, in the order given.
    package static func history(_ events: [CircuitEvent]) -> String {
        JSONValue.document(["events": .array(events.map { .event($0) })])
    }

    /// What happened since the history.
    package static func event(_ event: CircuitEvent) -> String { JSONValue.document(["event": .event(event)]) }

    package static func workers(_ workers: [WorkerSnapshot]) -> String {
        JSONValue.document(["workers": .array(workers.map { .worker($0) })])
    }

    // MARK: - The store and the tool

    /// What a look for all that can be wrong found.
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

    /// What a program can do.
    package static func help(_ verbs: [JSONValue]) -> String { JSONValue.document(["verbs": .array(verbs)]) }

    /// The versions of a program and of what it uses.
    package static func versions(tool: String, schema: String, sqlite: String) -> String {
        JSONValue.document(["schema": .string(schema), "sqlite": .string(sqlite), "tool": .string(tool)])
    }
}

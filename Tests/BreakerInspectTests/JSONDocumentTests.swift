import BreakerStore
import BreakerStoreJSON
import BreakerTestSupport
import Foundation
import Testing

/// What another program makes of values that it has from anywhere meets the schema, too.
@Suite struct JSONDocumentTests {
    private static let now = Date(timeIntervalSince1970: 1_767_225_600)

    private static let worker = WorkerSnapshot(id: 7, name: "api", pid: 42, since: now, probing: ["a"])

    private static let event = CircuitEvent(
        id: 3, circuit: "a", kind: .tripped, at: now, from: "closed", to: "open", reason: "why", worker: "api", pid: 42)

    private static func circuit(_ state: CircuitState) -> SeenCircuit {
        var config = CircuitBreaker.Config(
            name: "a", recoveryTimeout: .seconds(30), maxFailures: 2, rollingWindow: .seconds(60))
        config.trip = .consecutiveFailures(3)
        let snapshot = CircuitSnapshot(
            name: "a", config: config, state: state, since: now,
            probes: [.init(worker: 7, since: now, leaseEnds: now.addingTimeInterval(30))])
        return SeenCircuit(snapshot, failuresAtTrip: state == .halfOpen ? 1 : nil, at: now)
    }

    private static func list() -> String {
        var list = JSONList()
        for state in [CircuitState.closed, .open(until: now), .halfOpen, .held(.open, until: nil)] {
            list.append(self.circuit(state))
        }
        var text = ""
        list.writeDocument(unreadable: ["b"], degraded: self.degraded) { text += $0 }
        return text
    }

    private static func changes(
        _ changes: [(name: String, from: String, to: String, more: [String: JSONValue])]
    ) -> String {
        var text = ""
        JSONDocument.writeChanges(changes, isDryRun: true, unreadable: ["c"], degraded: degraded) { text += $0 }
        return text
    }

    static let degraded = SeenDegraded(2, ofLive: 3, outside: 1, reasons: ["busy", "newerSchema"], since: now)
    static let link = SeenLink(.cutOff, since: .now, pid: 7, reason: "no route")
    static let documents: [(definition: String, text: String)] = [
        ("list", list()), ("watchChanged", JSONDocument.changed(circuit(.closed), degraded: nil)),
        ("watchForgotten", JSONDocument.forgotten("a", degraded: degraded)),
        ("watchWorkers", JSONDocument.workersChanged(degraded: degraded)),
        ("watchWorkers", JSONDocument.workersChanged(degraded: nil)),
        ("show", JSONDocument.detail(of: circuit(.halfOpen), events: [event], link: link, degraded: degraded)),
        (
            "check",
            JSONDocument.check(
                ofCount: 2, notClosed: [circuit(.halfOpen)], isRefusing: true, unreadable: ["b"], degraded: degraded)
        ),
        ("wait", JSONDocument.waited(for: nil, isReached: false, degraded: degraded)),
        ("changes", changes([])), ("changes", changes([("a", "open", "closed", [:])])),
        ("changes", changes([("a", "open", "held-open", ["until": .null]), ("b", "closed", "closed", [:])])),
        ("history", JSONDocument.history([event], degraded: degraded)),
        ("historyEvent", JSONDocument.event(event, degraded: degraded)),
        ("workers", JSONDocument.workers([worker], outside: [7], link: link, degraded: degraded)),
        ("workers", JSONDocument.workers([], outside: [], link: nil, degraded: nil)),
        ("workers", JSONDocument.workers([], outside: [], link: SeenLink(.begun), degraded: nil)),
        ("doctor", JSONDocument.findings([("SQLite", "ok", "3.51.3", nil)], isHealthy: true, degraded: degraded)),
        ("help", JSONDocument.help([.verb(name: "a", usage: "a", summary: "b", options: [("--c", nil, "d")])])),
        ("versions", JSONDocument.versions(tool: "0.2.0", schema: "1.0", sqlite: "3.51.3")),
    ]

    @Test(arguments: Self.documents)
    func meetsTheSchema(definition: String, text: String) throws {
        #expect(try SchemaTests.schema().complaints(about: text, as: definition) == [])
        #expect(text.hasSuffix("}\n") && text.count { $0 == "\n" } == 1)
    }
}

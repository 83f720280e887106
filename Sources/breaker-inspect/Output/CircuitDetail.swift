import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All that is known of one circuit, as `show` prints it.
struct CircuitDetail {
    var circuit: CircuitSnapshot
    var workers: [WorkerSnapshot]
    /// The newest first.
    var events: [CircuitEvent]
    var now: Date

    func text(width: Int?, _ style: Style) -> String {
        var text = style.paint(self.circuit.name.escaped, .heading) + "\n"
        for (label, lines) in self.fields(style) {
            for (index, line) in lines.enumerated() {
                let margin = index == 0 ? label : ""
                text += "  \(margin)\(String(repeating: " ", count: 10 - margin.utf8.count))\(line)\n"
            }
        }
        guard !self.events.isEmpty else { return text }
        return text + "\n" + Table.events(self.events.reversed(), namingCircuits: false).text(width: width, style)
    }

    private func fields(_ style: Style) -> [(label: String, lines: [String])] {
        let word = self.circuit.stateWord
        var fields: [(label: String, lines: [String])] = [
            (
                "state",
                ["\(style.paint(word.rawValue, word.look)) since \(self.moment(self.circuit.since))", self.effect]
            )
        ]
        if let hold = self.circuit.hold { fields.append(("hold", self.lines(hold))) }
        fields.append(("failures", self.failures))
        if let error = self.circuit.lastError { fields.append(("error", [error.escaped])) }
        if self.circuit.tripsInARow > 0 { fields.append(("trips", ["\(self.circuit.tripsInARow) in a row"])) }
        if !self.circuit.probes.isEmpty { fields.append(("probes", self.circuit.probes.map(self.line))) }
        fields.append(("workers", ["\(self.circuit.workers) live have registered it"]))
        if let group = self.circuit.config.group { fields.append(("group", [group.escaped])) }
        fields.append(("rules", self.rules))
        return fields
    }

    private func moment(_ date: Date) -> String {
        "\(date.readable) (\(max(.zero, self.now.since(date)).readable) ago)"
    }

    private func left(until date: Date) -> String { max(.zero, date.since(self.now)).readable }

    /// What happens to a call.
    private var effect: String {
        switch self.circuit.state {
        case .closed: "calls are let through"
        case .halfOpen: "a few calls are let through to probe"
        case .open(let until) where until > self.now: "calls are refused; a probe in \(self.left(until: until))"
        case .open: "its time has come: the next call is a probe"
        case .held(.open, let until): "calls are refused \(self.end(of: until))"
        case .held(.closed, let until): "calls are let through and not counted \(self.end(of: until))"
        }
    }

    private func end(of until: Date?) -> String {
        until.map { "for another \(self.left(until: $0))" } ?? "until it is released"
    }

    private func lines(_ hold: CircuitSnapshot.Hold) -> [String] {
        let by = hold.by.map { " by \($0.escaped)" } ?? ""
        let until = hold.until.map { ", until \($0.readable)" } ?? ", until it is released"
        return ["\(hold.state.rawValue)\(by)\(until)"] + (hold.reason.map { ["reason: \($0.escaped)"] } ?? [])
    }

    private func line(_ probe: CircuitSnapshot.Probe) -> String {
        let worker = self.workers.first { $0.id == probe.worker }
        let who = worker.map { "\($0.name.escaped)[\($0.pid)]" } ?? "a worker that is gone"
        return "\(who) since \(self.moment(probe.since)), lease ends in \(self.left(until: probe.leaseEnds))"
    }

    private var failures: [String] {
        let count = "\(self.circuit.failures.count) of \(self.circuit.failureLimit)"
        switch self.circuit.config.trip.kind {
        case .consecutiveFailures: return ["\(count) in a row"]
        case .failures(_, let window):
            let line = Timeline.text(self.circuit.failures, window: window, endingAt: self.now)
            return ["\(count) within \(window.readable)", "[\(line)] \(window.readable) ago to now"]
        }
    }

    private var rules: [String] {
        let config = self.circuit.config
        let recovery = config.recovery
        var lines: [String] = []
        switch config.trip.kind {
        case .failures(let count, let window):
            lines.append("trips at \(Self.failures(count)) within \(window.readable)")
        case .consecutiveFailures(let count): lines.append("trips at \(Self.failures(count)) in a row")
        }
        if config.minimumReporters > 1 { lines[0] += ", seen by \(config.minimumReporters) workers" }
        var open = "stays open for \(recovery.timeout.readable)"
        if recovery.multiplier > 1 {
            open += ", times \(recovery.multiplier) for each further trip, at most \(recovery.cap.readable)"
        }
        if recovery.jitter > 0 { open += ", plus up to \(Int(recovery.jitter * 100)) %" }
        lines.append(open)
        lines.append(
            "probes: \(config.probes.limit) at a time, \(config.probes.successesToClose) must succeed, "
                + "each within \(config.probes.lease.readable)")
        return lines
    }

    private static func failures(_ count: Int) -> String { count == 1 ? "1 failure" : "\(count) failures" }

    var json: [String: JSONValue] {
        var circuit = JSONValue.circuit(self.circuit, at: self.now)
        circuit["config"] = .config(self.circuit.config)
        circuit["failureTimes"] = .array(self.circuit.failures.map { .moment("at", $0) })
        circuit["probes"] = .array(
            self.circuit.probes.map { probe in
                let worker = self.workers.first { $0.id == probe.worker }
                var members: [String: JSONValue] = [
                    "pid": worker.map { .integer(Int64($0.pid)) } ?? .null, "worker": .text(worker?.name),
                ]
                members.set("since", to: probe.since)
                members.set("leaseEnds", to: probe.leaseEnds)
                return .object(members)
            })
        return ["circuit": .object(circuit), "events": .array(self.events.reversed().map { .event($0) })]
    }
}

extension JSONValue {
    fileprivate static func moment(_ name: String, _ date: Date) -> JSONValue {
        var members: [String: JSONValue] = [:]
        members.set(name, to: date)
        return .object(members)
    }

    fileprivate static func config(_ config: CircuitBreaker.Config) -> JSONValue {
        var trip: [String: JSONValue] = [:]
        switch config.trip.kind {
        case .failures(let count, let window):
            trip = [
                "count": .count(count), "rule": .string("failures"), "windowMs": .integer(window.wholeMilliseconds),
            ]
        case .consecutiveFailures(let count):
            trip = ["count": .count(count), "rule": .string("consecutiveFailures"), "windowMs": .null]
        }
        let recovery: [String: JSONValue] = [
            "capMs": .integer(config.recovery.cap.wholeMilliseconds), "jitter": .number(config.recovery.jitter),
            "multiplier": .number(config.recovery.multiplier),
            "timeoutMs": .integer(config.recovery.timeout.wholeMilliseconds),
        ]
        let probes: [String: JSONValue] = [
            "leaseMs": .integer(config.probes.lease.wholeMilliseconds), "limit": .count(config.probes.limit),
            "successesToClose": .count(config.probes.successesToClose),
        ]
        return .object([
            "minimumReporters": .count(config.minimumReporters), "probes": .object(probes),
            "recovery": .object(recovery), "trip": .object(trip),
        ])
    }
}

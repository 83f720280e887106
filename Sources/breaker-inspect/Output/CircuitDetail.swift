import BreakerStore
import BreakerStoreJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All that is known of one circuit, as `show` prints it.
struct CircuitDetail {
    var inspected: InspectedCircuit
    var workers: [WorkerSnapshot]
    /// The newest first.
    var events: [CircuitEvent]
    var now: Date

    /// The columns before what is told.
    private static let margin = 12
    /// Where no terminal says how many there is room for.
    static let usualEvents = 10
    private static let fewestEvents = 3

    private var circuit: CircuitSnapshot { self.inspected.snapshot }

    var json: String {
        JSONDocument.detail(of: self.inspected.seen, events: self.events, workers: self.workers)
    }

    /// - Parameter limit: how many events are told; nil for as many as the terminal has room for below the rest.
    func text(in console: any Console, limit: Int?, _ style: Style) -> String {
        let width = console.width
        var lines = [style.paint(self.circuit.name.escaped, .heading)]
        for (label, texts) in self.fields(style) {
            // On a terminal a long line goes on below its beginning.
            let wrapped = texts.flatMap { $0.wrapped(to: width.map { max(20, $0 - Self.margin) }) }
            for (index, line) in wrapped.enumerated() {
                let margin = index == 0 ? label : ""
                lines.append(
                    "  \(margin)\(String(repeating: " ", count: Self.margin - 2 - margin.utf8.count))\(line)")
            }
        }
        let text = lines.joined(separator: "\n") + "\n"
        // A terminal breaks a line without blanks, such as a long name.
        let taken = lines.reduce(0) { $0 + $1.rows(of: width) }
        // An empty line, the heading of the events, and the shell's prompt below them.
        let room = console.height.map { max(Self.fewestEvents, $0 - taken - 3) }
        let told = ToldEvent.all(self.events.reversed()).suffix(limit ?? room ?? Self.usualEvents)
        guard !told.isEmpty else { return text }
        let table = Table.events(Array(told), namingCircuits: false, isBrief: true)
        return text + "\n" + table.text(width: width, style)
    }

    private func fields(_ style: Style) -> [(label: String, lines: [String])] {
        let word = self.circuit.stateWord
        var fields: [(label: String, lines: [String])] = [
            (
                "state",
                ["\(style.paint(word.rawValue, word.look)) since \(self.moment(self.circuit.since))", self.effect]
            )
        ]
        if let outage = self.outage { fields.append(("outage", [outage])) }
        if let cause = self.cause { fields.append(("why", [cause])) }
        if let hold = self.circuit.hold { fields.append(("hold", self.lines(hold))) }
        fields.append(("failures", self.failures))
        if let error = self.circuit.lastError { fields.append(("error", [error.escaped])) }
        fields.append(("refusals", [Self.count(Int64(self.circuit.refusals), "call") + " refused"]))
        if self.outage == nil, self.circuit.tripsInARow > 0 { fields.append(("trips", [self.trips])) }
        if !self.circuit.probes.isEmpty { fields.append(("probes", self.circuit.probes.map(self.line))) }
        fields.append(("workers", [Self.count(Int64(self.circuit.workers), "live worker") + " registered"]))
        if let group = self.circuit.config.group { fields.append(("group", [group.escaped])) }
        fields.append(("rules", self.rules))
        return fields
    }

    /// A number without a fraction that says nothing.
    private static func factor(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func count(_ number: Int64, _ what: String) -> String {
        number == 1 ? "1 \(what)" : "\(number) \(what)s"
    }

    /// Since when the circuit has not been closed, whatever has become of it meanwhile.
    private var outage: String? {
        self.circuit.trippedSince.map { "since \(self.moment($0)), \(self.trips)" }
    }

    private var trips: String {
        self.circuit.tripsInARow == 1 ? "1 trip" : "\(self.circuit.tripsInARow) trips in a row"
    }

    /// The event that led to this state, as far as the newest ones tell.
    private var cause: String? {
        let word = self.circuit.stateWord.rawValue
        guard let event = self.events.first(where: { $0.to == word && $0.kind.isOfState }) else { return nil }
        let by = event.by.map { " by \($0.escaped)" } ?? ""
        let reason = event.reason.map { ": \($0.escaped)" } ?? ""
        return "\(ToldEvent(event).what)\(by)\(reason)"
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
        var lines = ["\(hold.state.rawValue)\(by)\(until)"]
        if let beneath = self.circuit.beneath { lines.append("beneath: \(StateWord(beneath).rawValue)") }
        if let reason = hold.reason { lines.append("reason: \(reason.escaped)") }
        return lines
    }

    private func line(_ probe: CircuitSnapshot.Probe) -> String {
        let worker = self.workers.first { $0.id == probe.worker }
        let who = worker.map { "\($0.name.escaped)[\($0.pid)]" } ?? "a worker that is gone"
        return "\(who) since \(self.moment(probe.since)), lease ends in \(self.left(until: probe.leaseEnds))"
    }

    private var failures: [String] {
        let state = self.circuit.beneath ?? self.circuit.state
        guard !state.isClosed, let begun = self.circuit.trippedSince, let failures = self.inspected.tripFailures else {
            return self.lines(of: self.circuit.failures, endingAt: self.now) { "\($0) ago to now" }
        }
        // A service may have said that it is down: then it took fewer failures, or none.
        var lines = self.lines(of: failures, endingAt: begun) { "the \($0) before the trip" }
        lines[0] += ", when it tripped"
        return failures.isEmpty ? [lines[0]] : lines
    }

    private func lines(
        of failures: [Date], endingAt end: Date, describing describe: (_ window: String) -> String
    ) -> [String] {
        let count = self.circuit.failureLimit.map { "\(failures.count) of \($0)" } ?? "\(failures.count)"
        switch self.circuit.config.trip.kind {
        case .consecutiveFailures: return ["\(count) in a row"]
        case .unknown: return [count]
        case .failures(_, let window):
            let line = Timeline.text(failures, window: window, endingAt: end)
            return ["\(count) within \(window.readable)", "[\(line)] \(describe(window.readable))"]
        }
    }

    private var rules: [String] {
        let config = self.circuit.config
        let recovery = config.recovery
        var lines: [String] = []
        switch config.trip.kind {
        case .failures(let count, let window):
            lines.append("trips at \(Self.count(Int64(count), "failure")) within \(window.readable)")
        case .consecutiveFailures(let count): lines.append("trips at \(Self.count(Int64(count), "failure")) in a row")
        case .unknown: lines.append("trips by \(config.trip): this version counts no calls")
        }
        if config.minimumReporters > 1 { lines[0] += ", seen by \(config.minimumReporters) workers" }
        var open = "stays open for \(recovery.timeout.readable)"
        if recovery.multiplier > 1 {
            open +=
                ", times \(Self.factor(recovery.multiplier)) for each further trip, at most \(recovery.cap.readable)"
        }
        if recovery.jitter > 0 { open += ", plus up to \(Int(recovery.jitter * 100)) %" }
        lines.append(open)
        lines.append(
            "probes: \(config.probes.limit) at a time, \(config.probes.successesToClose) must succeed, "
                + "each within \(config.probes.lease.readable)")
        return lines
    }
}

extension CircuitEvent.Kind {
    /// Whether it leads a circuit to a state.
    fileprivate var isOfState: Bool {
        [.tripped, .probing, .reopened, .closed, .reset, .held, .released].contains(self)
    }
}

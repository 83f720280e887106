import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// All about one circuit, as `show` prints it.
struct CircuitDetail {
    var inspected: InspectedCircuit
    /// The events, the newest first.
    var events: [CircuitEvent]
    /// The outages, the newest first.
    var outages: [Spell]
    var link: LinkStanding
    /// The file's creation; nil if an older release has created it.
    var creation: StoreCreation?
    var live: LiveWorkers
    var now: Date

    /// How many columns precede a field's text.
    private static let margin = 12
    /// How many events are shown without a terminal.
    static let usualEvents = 10
    /// How many outages JSON has.
    private static let shownOutages = 10
    private static let fewestEventLines = 3

    var circuit: CircuitSnapshot { self.inspected.snapshot }

    var json: String {
        JSONDocument.detail(
            of: self.inspected.seen(withRulesAnd: Array(self.outages.prefix(Self.shownOutages))), events: self.events,
            link: self.link.seen, degraded: self.live.seen,
            creation: self.creation?.seen)
    }

    /// The text of `show`.
    ///
    /// - Parameter limit: how many events are shown; nil for as many as fit on the terminal below the rest.
    func text(in console: any Console, limit: Int?, _ style: Style) -> String {
        let width = console.width
        var lines = [style.paint(self.circuit.name.escaped, .heading)]
        for (label, texts) in self.fields(style) {
            // On a terminal a long line continues below its beginning.
            let wrapped = texts.flatMap { $0.wrapped(to: width.map { max(20, $0 - Self.margin) }) }
            for (index, line) in wrapped.enumerated() {
                let margin = index == 0 ? label : ""
                lines.append(
                    "  \(margin)\(String(repeating: " ", count: Self.margin - 2 - margin.utf8.count))\(line)")
            }
        }
        let text = lines.joined(separator: "\n") + "\n"
        // The terminal breaks a line without blanks, such as a long name.
        let taken = lines.reduce(0) { $0 + $1.rows(of: width) }
        let footer = self.live.notice.map { $0.wrapped(to: width).count + 1 } ?? 0
        // Room for an empty line, the heading of the events, and the shell's prompt below them.
        let room = console.height.map { max(Self.fewestEventLines, $0 - taken - footer - 3) }
        let events = EventLine.all(self.events.reversed())
        guard !events.isEmpty else { return text }
        var count = min(limit ?? room ?? Self.usualEvents, events.count)
        var shown = self.table(of: events.suffix(count), width: width, style)
        // Without the heading.
        while limit == nil, count > 1, let room, shown.lines - 1 > room {
            count -= 1
            shown = self.table(of: events.suffix(count), width: width, style)
        }
        return text + "\n" + shown.text
    }

    private func table(of events: ArraySlice<EventLine>, width: Int?, _ style: Style) -> (text: String, lines: Int) {
        var (text, lines) = ("", 0)
        var table = EventTable(Array(events), namingCircuits: false, isBrief: true, onTerminal: width != nil)
        table.print(width: width, style) {
            text += $0
            lines += 1
        }
        return (text, lines)
    }

    private func fields(_ style: Style) -> [(label: String, lines: [String])] {
        let standing = self.circuit.standing
        // The time behind it is when the circuit opened, not when it became due.
        let state = style.paint(standing.text, standing.look) + (standing.isDue ? ", open" : "")
        var fields: [(label: String, lines: [String])] = [
            ("state", ["\(state) since \(self.moment(self.circuit.since))", self.effect])
        ]
        if let outage = self.outage { fields.append(("outage", outage)) }
        if let cause = self.cause { fields.append(("why", [cause])) }
        if let last = self.lastOutage { fields.append(("last one", [last])) }
        if let flapping = self.flapping { fields.append(("outages", flapping)) }
        if let hold = self.circuit.hold { fields.append(("hold", self.lines(hold))) }
        if let fleet = self.fleet { fields.append(("fleet", fleet)) }
        fields += self.counted
        if let error = self.circuit.lastError { fields.append(("error", [error.escaped])) }
        if self.outage == nil, self.circuit.tripsInARow > 0 { fields.append(("trips", [self.trips])) }
        let probes = self.circuit.probes.map(self.line) + self.inspected.lostProbes.map(self.line)
        if !probes.isEmpty { fields.append((probes.count == 1 ? "probe" : "probes", probes)) }
        if let store = self.store { fields.append(("store", [store])) }
        fields.append(("workers", self.workers))
        if let group = self.circuit.config.group { fields.append(("group", [group.escaped])) }
        fields.append(("rules", self.circuit.config.readableRules))
        return fields
    }

    /// Since when the circuit has not been closed; and why it tripped, unless an event that led to the current state
    /// shows that.
    private var outage: [String]? {
        guard let since = self.circuit.trippedSince else { return nil }
        let hasOwnReason = [.tripped, .extended, .reopened].contains(self.entry?.kind)
        let reason = hasOwnReason ? nil : self.inspected.tripReason
        let ago = max(.zero, self.now.since(since))
        // The date is that of the state's line, or of the day before.
        let time = ago < .seconds(43_200) ? since.readableTime : since.readable
        let hurt = self.outages.first { $0.end == nil }.map { ": " + $0.hurtCalls(self.failedProbes) } ?? ""
        return ["since \(time) (\(ago.readable) ago)\(hurt)"]
            + (reason.map { ["tripped: \($0.escaped)"] } ?? [])
    }

    /// Each failed probe has opened the circuit once more.
    private var failedProbes: Int { max(0, self.circuit.tripsInARow - 1) }

    /// A remark if the file was created in place of a lost one a short while ago.
    private var store: String? {
        guard let creation, let news = creation.news(at: self.now) else { return nil }
        return "created \(self.moment(creation.at)) \(news.what.escaped): see '\(Tool.name) doctor'"
    }

    private var workers: [String] {
        let outside = self.live.groups.filter { $0.cause == .outside }
        return ["\(self.circuit.workers.counted("live worker")) registered"]
            + outside.map { "their release can't use this file: \($0.names)" }
    }

    private var trips: String {
        self.circuit.tripsInARow == 1 ? "1 trip" : "\(self.circuit.tripsInARow) trips"
    }

    /// The event that led to the current state, if it is among the newest.
    private var entry: CircuitEvent? {
        let word = self.circuit.stateWord.rawValue
        return self.events.first { $0.to == word && $0.kind.isOfState }
    }

    /// The effect of other hosts on the circuit.
    private var fleet: [String]? {
        var lines = self.link.sentence(at: self.now).map { [$0] } ?? []
        if self.entry?.isOfFleet == true, case .open(let until) = self.circuit.state, until > self.now {
            let left = self.left(until: until)
            let isJoined = self.link.livingNote?.isJoined == true
            lines.append(
                isJoined
                    ? "the circuit waits for the fleet; without news, this host probes in \(left)"
                    : "opened by the fleet; this host probes by itself in \(left)")
        }
        return lines.isEmpty ? nil : lines
    }

    private var cause: String? {
        guard let event = self.entry else { return nil }
        let isByProbe = event.kind == .closed && event.by == nil && event.worker != nil
        let by = event.by.map { " by \($0.escaped)" } ?? (isByProbe ? " by a probe of \(EventLine(event).who)" : "")
        let reason = event.reason.map { ": \($0.escaped)" } ?? ""
        return "\(EventLine(event).what)\(by)\(reason)"
    }

    func moment(_ date: Date) -> String {
        "\(date.readable) (\(max(.zero, self.now.since(date)).readable) ago)"
    }

    func left(until date: Date) -> String { max(.zero, date.since(self.now)).readable }

    /// The circuit's effect on a call.
    private var effect: String {
        guard !self.circuit.standing.isObserving else { return self.effectOfEnforcing }
        return switch self.circuit.state {
        case .closed: "calls are let through"
        case .halfOpen where self.inspected.isRefusing: "calls are refused: \(self.takenSlots)"
        case .halfOpen: "the next call is a probe; others are refused while it runs"
        case .open(let until) where until > self.now: "calls are refused; a probe in \(self.left(until: until))"
        case .open: "the recovery time is over: no call is refused, and the next one is a probe"
        case .held(.open, let until): "calls are refused \(self.end(of: until))"
        case .held(.closed, let until): "calls are let through, and count for no rule, \(self.end(of: until))"
        }
    }

    private var takenSlots: String {
        let count = self.circuit.probes.count
        return count == 1 ? "the only probe slot is taken" : "all \(count) probe slots are taken"
    }

    /// The effect on a call of a circuit that only observes.
    private var effectOfEnforcing: String {
        switch self.circuit.state {
        case .open(let until) where until > self.now:
            "no call is refused; enforcing, it would let a probe through in \(self.left(until: until))"
        case .open: "no call is refused; the recovery time is over: the next call is a probe"
        case .halfOpen: "no call is refused; enforcing, it would let a few through to probe"
        case .closed, .held: "no call is refused"
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
}

extension CircuitSnapshot.Probe {
    /// The worker that has a probe's slot, as the history names it.
    var prober: String { self.name.map { "\($0)[\(self.pid ?? 0)]" } ?? "worker \(self.worker)" }
}

extension StoreCreation {
    fileprivate var seen: SeenCreation {
        SeenCreation(
            at: self.at, inPlaceOf: self.replacement?.what, restoredHolds: self.replacement?.restoredHolds ?? 0,
            restoredOpenStates: self.replacement?.restoredOpenStates ?? 0)
    }
}

extension CircuitEvent.Kind {
    /// Whether the event brings a circuit into a state.
    fileprivate var isOfState: Bool {
        [.tripped, .extended, .probing, .reopened, .closed, .reset, .held, .released, .stateRestored].contains(self)
    }
}

import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A report as one page without a script, an image or a link: it can be attached to a ticket.
struct ReportPage {
    private static let maxLines = HTML.maxRows
    /// The most bars of the timeline, 150 bytes each.
    private static let maxBars = 1_000
    /// How many bytes the rows of each part may take: less than a megabyte in all.
    enum Size {
        static let outages = 120_000
        static let holds = 60_000
        /// Of all outages, or holds, of one circuit but the newest.
        static let ofOneCircuit = 24_000
        static let circuits = 380_000
        static let workers = 30_000
        static let history = 180_000
    }

    let report: Report
    let host: String
    let who: String

    /// The parts of the page, in order.
    var parts: [String] {
        [
            self.head, self.summary, self.timeline, self.spells(.outages), self.spells(.holds), self.circuits,
            self.workers, self.history, "</body></html>\n",
        ]
    }

    // MARK: - The parts

    private var head: String {
        let title = HTML.text("Circuit breakers of \(self.report.path)")
        return """
            <!DOCTYPE html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(title)</title><style>\(ReportStyle.css)</style></head><body>
            <h1>\(title)</h1>
            <p class="dim">As of \(self.report.now.readable) on \(HTML.text(self.host)), made by \(HTML.text(self.who)) with \
            \(Tool.name) \(Tool.version) (SQLite \(HTML.text(Versions.sqlite))). All times are in UTC.</p>

            """
    }

    private var summary: String {
        let outages = self.report.spells.count { $0.kind == .outage }
        let live = self.report.live
        let tiles: [(String, String)] = [
            ("\(self.report.states.total)", "circuits"), (self.report.states.text, "states now"),
            ("\(outages)", "outages in the history"),
            ("\(live.count)" + (live.degraded.isEmpty ? "" : ", \(live.degraded.count) degraded"), "processes"),
            ("\((self.report.fileSize + 512) / 1_024) KiB", "database, schema \(self.report.schema)"),
        ]
        var text = "<div class=\"tiles\">"
        for (value, name) in tiles { text += "<div class=\"tile\"><b>\(HTML.text(value))</b>\(HTML.text(name))</div>" }
        text += "</div>\n"
        if let notice = live.notice { text += "<p class=\"open\">\(HTML.text(notice))</p>\n" }
        if let failure = Unreadable(self.report.unreadable).failure {
            text += "<p class=\"open\">\(HTML.text(failure.message))</p>\n"
        }
        return text
    }

    /// A line for each circuit with an outage or a hold, the newest first.
    private var timeline: String {
        guard let start = self.report.spells.map(\.start).min() else {
            return "<h2>Timeline</h2><p>The history has no outage and no hold.</p>\n"
        }
        var lines: [(circuit: String, bars: String)] = []
        // By bytes: two names that are equal to Swift are two circuits.
        var places: [[UInt8]: Int] = [:]
        var hidden: Set<[UInt8]> = []
        // A little more than the whole time, so that a bar that begins now is visible.
        let span = max(self.report.now.since(start) / .seconds(1), 1) * 1.01
        for spell in self.report.spells.prefix(Self.maxBars) {
            let bar = self.bar(spell, from: start, span)
            let name = Array(spell.circuit.utf8)
            if let place = places[name] {
                lines[place].bars += bar
            } else if lines.count < Self.maxLines {
                places[name] = lines.count
                lines.append((spell.circuit, bar))
            } else {
                hidden.insert(name)
            }
        }
        var text = "<h2>Timeline</h2><p class=\"key dim\">From \(start.readable) to now."
        text += "<i></i>outage<i class=\"held\"></i>held</p>\n"
        for line in lines {
            let name = HTML.text(line.circuit)
            text +=
                "<div class=\"line\"><span title=\"\(name)\">\(name)</span><div class=\"track\">\(line.bars)</div></div>\n"
        }
        let marks = (0...4).map { (start + span / 1.01 * Double($0) / 4).readable }
        text += "<div class=\"line\"><span></span><div class=\"axis\">"
        text += marks.map { "<span>\($0)</span>" }.joined() + "</div></div>\n"
        return hidden.isEmpty ? text : text + "<p class=\"dim\">Left out: \(hidden.count.counted("circuit")).</p>\n"
    }

    private func bar(_ spell: Spell, from start: Date, _ span: Double) -> String {
        let left = spell.start.since(start) / .seconds(1) / span * 100
        let width = (spell.end ?? self.report.now).since(spell.start) / .seconds(1) / span * 100
        func percent(_ number: Double) -> String { MetricLines.number((number * 100).rounded() / 100) }
        let what = spell.kind == .outage ? "outage" : "held"
        let title = "\(what), \(self.length(spell)), \(spell.start.readable) to \(spell.end?.readable ?? "now")"
        let look = spell.kind == .outage ? "bar" : "bar held"
        return
            "<div class=\"\(look)\" style=\"left:\(percent(left))%;width:\(percent(width))%\" title=\"\(title)\"></div>"
    }

    private var circuits: String {
        let titles = [
            "Circuit", "State", "Since", "Calls", "Failed", "Slow", "Refused", "Durations", "Last error", "Rules",
        ]
        let rows = self.report.circuits.lazy.map { circuit in
            let standing = circuit.standing
            let totals = circuit.totals
            let group = circuit.config.group.map { "<br><span class=\"dim\">\(HTML.text($0))</span>" } ?? ""
            // In floating point, sums of the file's numbers can't overflow.
            let calls = Double(totals.succeeded) + Double(totals.failed)
            let share = calls > 0 ? " (\(CallRate.percent(Double(totals.failed) / calls)))" : ""
            return HTML.row([
                HTML.text(circuit.name) + group,
                "<div class=\"state\"><span class=\"\(standing.isDue ? Standing.due : standing.word.rawValue)\">"
                    + "\(standing.text)</span>\(self.detail(circuit))</div>",
                self.time(circuit.since), MetricLines.number(calls),
                "<span class=\"time\">\(totals.failed)\(share)</span>",
                circuit.config.slow == nil ? "" : "\(totals.slow)", "\(totals.refused)",
                HTML.text(totals.durations?.quantiles ?? ""), HTML.text(circuit.lastError ?? ""),
                circuit.config.readableRules.map(HTML.text).joined(separator: "; "),
            ])
        }
        return "<h2>Circuits</h2>" + HTML.table(titles, rows, size: Size.circuits, leftOut: self.report.leftOut)
    }

    /// More facts of a circuit that is not closed.
    private func detail(_ circuit: CircuitSnapshot) -> String {
        var lines: [String] = []
        if let doubt = self.doubt(about: circuit.standing) { lines.append(doubt) }
        if circuit.standing.isObserving {
            if circuit.standing.wouldRefuse { lines.append("it only observes: no call is refused") }
        } else if circuit.isDue {
            lines.append("no call is refused: the next one is a probe")
        } else if let retryAt = circuit.retryAt {
            lines.append("calls are refused for \(max(.zero, retryAt.since(self.report.now)).readable)")
        }
        if circuit.tripsInARow > 1 { lines.append("\(circuit.tripsInARow) trips in a row") }
        for probe in circuit.probes {
            lines.append("probed by \(probe.prober)")
        }
        if let hold = circuit.hold {
            lines.append("by \(hold.by ?? "an unknown operator")" + (hold.reason.map { ": \($0)" } ?? ""))
        }
        return lines.map { "<br><span class=\"dim\">\(HTML.text($0))</span>" }.joined()
    }

    /// The workers that may let calls through that an open circuit refuses; nil if all workers use the file.
    private func doubt(about standing: Standing) -> String? {
        let live = self.report.live
        guard !live.degraded.isEmpty, standing.word != .closed, !standing.isObserving else { return nil }
        return "\(live.share(live.degraded.count)) may not obey that"
    }

    private var workers: String {
        guard self.report.live.count > 0 else { return "<h2>Processes</h2><p>No process has the store open.</p>\n" }
        let outside = self.report.live.outside.map(\.id.rawValue)
        let rows = self.report.workers.lazy.map { worker in
            let degraded = outside.contains(worker.id) ? "outside" : worker.degradedSince?.readable
            return HTML.row([
                HTML.text(worker.name), "\(worker.pid)", HTML.text(worker.version ?? "unknown"),
                self.time(worker.since),
                degraded.map { "<span class=\"open\">\($0)</span>" } ?? "no",
                HTML.text(worker.probing.joined(separator: ", ")),
            ])
        }
        return "<h2>Processes</h2>"
            + HTML.table(
                ["Name", "Pid", "Release", "Since", "Degraded since", "Probes"], rows, size: Size.workers)
    }

    private var history: String {
        let shown = EventLine.all(self.report.events.reversed()).reversed()
        guard !shown.isEmpty else { return "<h2>History</h2><p>The history is empty.</p>\n" }
        let rows = shown.lazy.map { event in
            HTML.row([
                self.time(event.event.at), HTML.text(event.event.circuit ?? "(the store)"), HTML.text(event.what),
                HTML.text(event.change), HTML.text(event.who), HTML.text(event.reason),
            ])
        }
        let cut =
            self.report.oldestRead.map { " Events, outages and holds before \($0.readable) were not read." } ?? ""
        return "<h2>History</h2><p class=\"dim\">The newest first.\(cut)</p>"
            + HTML.table(
                ["Time", "Circuit", "Event", "Change", "Who", "Why"], rows, size: Size.history,
                leftOut: self.report.eventsLeftOut)
    }

    // MARK: - Times

    func time(_ date: Date) -> String { "<span class=\"time\">\(date.readable)</span>" }

    func length(_ spell: Spell) -> String {
        let length = max(.zero, (spell.end ?? self.report.now).since(spell.start)).readable
        if !spell.isEndKnown { return "at most \(length)" }
        return spell.isStartKnown ? length : "more than \(length)"
    }
}

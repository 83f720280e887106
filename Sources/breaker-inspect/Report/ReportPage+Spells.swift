import BreakerStore
import BreakerTool

/// The outages and holds of a report, those of one circuit together.
extension ReportPage {
    enum SpellList {
        case outages, holds

        var heading: String { self == .outages ? "<h2>Outages</h2>" : "<h2>Holds</h2>" }
        var noun: String { self == .outages ? "outage" : "hold" }
        var size: Int { self == .outages ? Size.outages : Size.holds }

        /// The titles behind that of the circuit's name.
        var titles: [String] {
            ["From", "To", "How long"]
                + (self == .outages
                    ? ["Calls hurt", "Failed probes", "Tripped by", "Why", "Ended by"]
                    : ["State", "Who", "Why", "Ended by"])
        }
    }

    /// A row for the newest of each circuit, with the circuit's others folded below it.
    func spells(_ list: SpellList) -> String {
        let spells = self.report.spells.filter { ($0.kind == .outage) == (list == .outages) }
        guard !spells.isEmpty else { return "\(list.heading)<p>None in the history.</p>\n" }
        var circuits: [[Spell]] = []
        // By bytes: two names that are equal to Swift are two circuits.
        var places: [[UInt8]: Int] = [:]
        for spell in spells {
            let name = Array(spell.circuit.utf8)
            if let place = places[name] {
                circuits[place].append(spell)
            } else {
                places[name] = circuits.count
                circuits.append([spell])
            }
        }
        let observing = Set(self.report.circuits.filter { $0.config.mode == .observing }.map { Array($0.name.utf8) })
        // Half of the bytes are for the folded rows: the newest of each circuit matter more.
        let size = min(Size.ofOneCircuit, list.size / 2 / max(1, circuits.count { $0.count > 1 }))
        let rows = circuits.lazy.map { spells in
            let isObserving = spells.first.map { observing.contains(Array($0.circuit.utf8)) } ?? false
            return self.rows(list, of: spells, isObserving: isObserving, size: size)
        }
        return list.heading + HTML.table(["Circuit"] + list.titles, rows, size: list.size)
    }

    /// The rows of one circuit, whose spells come the newest first.
    private func rows(_ list: SpellList, of spells: [Spell], isObserving: Bool, size: Int) -> String {
        guard let newest = spells.first, let oldest = spells.last else { return "" }
        let name = HTML.text(newest.circuit)
        let first = HTML.row([name + (isObserving ? " (observing)" : "")] + self.cells(of: newest))
        guard spells.count > 1 else { return first }
        let rows = spells.dropFirst().lazy.map { HTML.row(self.cells(of: $0)) }
        let count = (spells.count - 1).counted("more \(list.noun)")
        let fold = HTML.fold(
            "\(count) of \(name), since \(self.time(oldest.start))", HTML.table(list.titles, rows, size: size))
        return first + "<tr><td colspan=\"\(list.titles.count + 1)\">\(fold)</td></tr>\n"
    }

    /// The cells behind the circuit's name.
    private func cells(of spell: Spell) -> [String] {
        let begun = spell.begunBy.map { EventLine($0) }
        let details: [String] =
            switch spell.kind {
            case .outage: [spell.briefHurtCalls, "\(spell.failedProbes)"]
            case .held(let state): ["held \(state.rawValue)"]
            }
        return [
            (spell.isStartKnown ? "" : "before ") + self.time(spell.start),
            self.endTime(spell), self.length(spell),
        ] + details + [
            HTML.text(begun?.who ?? "not in the history"), HTML.text(begun?.reason ?? ""), self.end(of: spell),
        ]
    }

    private func endTime(_ spell: Spell) -> String {
        guard let end = spell.end else { return "<span class=\"time\">lasts</span>" }
        return (spell.isEndKnown ? "" : "not after ") + self.time(end)
    }

    private func end(of spell: Spell) -> String {
        guard let event = spell.endedBy.map({ EventLine($0) }) else {
            // Only a hold has a time; the end of an outage is unknown where its circuit can't be read.
            return spell.isEndKnown ? "" : spell.kind == .outage ? "unknown" : "by itself"
        }
        let by = event.event.kind == .closed ? "a probe of \(event.who)" : "\(event.what) by \(event.who)"
        return HTML.text(event.reason.isEmpty ? by : "\(by): \(event.reason)")
    }
}

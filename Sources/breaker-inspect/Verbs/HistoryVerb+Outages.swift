import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `history --outages`: one line for each outage, in place of its events.
extension HistoryVerb {
    /// How many of the newest events are searched for outages.
    private static let maxEventsRead = 100_000

    func showOutages(in context: Context) throws(Failure) -> ExitCode {
        let (found, live) = try context.reading { (store) throws(BreakerStoreError) in
            try store.view { (inspection) throws(BreakerStoreError) in
                (try self.outages(in: inspection), try inspection.liveWorkers())
            }
        }
        let (outages, unreadable, now) = try found.get()
        if context.isJSON {
            context.console.write(JSONDocument.outages(outages.map { $0.seen(at: now) }, degraded: live.seen))
        } else if outages.isEmpty {
            context.console.writeError("no outages in the history\n")
        } else {
            let table = Table.outages(outages, namingCircuits: self.circuit == nil, now: now)
            table.forEachLine(width: context.console.width, context.style) { context.console.write($0) }
            if let notice = live.notice { context.writeFooter(notice) }
        }
        if let unreadable { context.console.writeError(unreadable) }
        return unreadable?.code ?? .done
    }

    /// The wanted outages, the newest first.
    ///
    /// Circuits whose rows can't be read have the outages of their histories, without ends and counts.
    private func outages(
        in inspection: StoreView
    ) throws(BreakerStoreError) -> Outcome<(outages: [Spell], unreadable: Failure?, now: Date)> {
        let events = try inspection.history(of: self.circuit, limit: Self.maxEventsRead)
        let circuits: [InspectedCircuit]
        var unreadable: Failure?
        if let circuit = self.circuit {
            switch try Selection(name: circuit).one(in: inspection) {
            case .success(let found): circuits = [found]
            // The history of a circuit outlives the circuit.
            case .failure(let failure):
                guard !events.isEmpty else { return .failure(failure) }
                if failure.code != .noSuchCircuit { unreadable = failure }
                circuits = []
            }
        } else {
            let found = try inspection.circuits(nil, countingWorkers: false, into: [InspectedCircuit]()) {
                if $1.mayHaveOutages { $0.append($1) }
            }
            circuits = found.value
            unreadable = Unreadable(found.unreadable).failure
        }
        let all = Spell.all(events.reversed(), circuits, now: inspection.now).filter { $0.kind == .outage }
        let start = self.since.map { inspection.now.addingTimeInterval(-($0 / .seconds(1))) }
        let wanted = all.filter { outage in start.map { (outage.end ?? inspection.now) >= $0 } ?? true }
        return .success((Array(wanted.prefix(self.limit)), unreadable, inspection.now))
    }
}

extension InspectedCircuit {
    /// Whether the circuit shows more about an outage than the history: it lasts, or refusals were published late.
    fileprivate var mayHaveOutages: Bool {
        self.snapshot.trippedSince != nil || (self.hurtSinceChange?.refused ?? 0) > 0
            || !self.snapshot.unheldState.isClosed
    }
}

extension Table {
    fileprivate static func outages(_ outages: [Spell], namingCircuits: Bool, now: Date) -> Table {
        var columns: [Column] = [
            .init(title: "CIRCUIT", isName: true), .init(title: "FROM"), .init(title: "TO"),
            .init(title: "LASTED", isRightAligned: true),
            .init(title: "PROBES", isRightAligned: true, presence: .whereItFits),
            .init(title: "FAILED", isRightAligned: true), .init(title: "REFUSED", isRightAligned: true),
            .init(title: "ENDED BY", minimumWidth: 7),
        ]
        if !namingCircuits { columns.remove(at: 0) }
        var table = Table(columns: columns)
        for outage in outages {
            let lasted = max(.zero, (outage.end ?? now).since(outage.start)).readable
            var row: [Cell] = [
                .init(text: outage.circuit.escaped),
                .init(text: (outage.isStartKnown ? "" : "before ") + outage.start.readable),
                .init(text: outage.end.map { Self.end(of: outage, $0) } ?? "lasts"),
                .init(text: outage.isStartKnown ? lasted : "> \(lasted)"),
                .init(text: "\(outage.failedProbes) failed"),
                .init(text: outage.hurt.map { "\($0.failed)" } ?? "unknown"),
                .init(text: outage.hurt.map { "\($0.refused)" } ?? "unknown"),
                .init(text: outage.ending?.escaped ?? "-"),
            ]
            if !namingCircuits { row.remove(at: 0) }
            table.append(row)
        }
        return table
    }

    /// The end of an outage, without the date if that is the date of its start.
    private static func end(of outage: Spell, _ end: Date) -> String {
        let (text, start) = (end.readable, outage.start.readable)
        let day = text.prefix { $0 != " " }
        let shown = start.hasPrefix(day) ? String(text.dropFirst(day.count + 1)) : text
        return outage.isEndKnown ? shown : "not after \(shown)"
    }
}

import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `history`: events, and the operators and workers behind them.
struct HistoryVerb: Verb {
    static let name = "history"
    static let synopsis = "[NAME]"
    static let operands: [Operand] = [.one(.circuit)]
    static let summary = "show what happened to one circuit or to all, oldest first"
    static let details = """
        Shows the newest 100 events, or all since --since. A DURATION is such as 90s,
        15m, 1.5h or 2d. --after shows the oldest 100 events after the one with this id,
        which --json prints. If the file has not reached that id, it has replaced the
        file that the id is from: then it shows the file's oldest events.
        A failed probe is one line, which --limit counts as one; for --json it counts
        both of its events.
        With --outages it shows the newest outages, the newest first: failed calls, with
        those that tripped the circuit, and refused ones. Both numbers are complete two
        seconds after the end. A probe that expired counts as failed.
        """
    static let since = Option("since", "DURATION", help: "only events of this long ago or later")
    static let limit = Option("limit", "N", help: "the newest N at most; with --after the oldest N")
    static let after = Option("after", "ID", help: "only events after this one, the oldest first")
    static let follow = Option("follow", help: "then print new events as they happen, until Ctrl-C")
    static let outages = Option("outages", help: "one line for each outage, with the calls that it hurt")
    static let options: [Option] = [Self.since, Self.after, Self.limit, Self.follow, Self.outages]

    private static let usualLimit = 100

    let circuit: String?
    private let follows: Bool
    private let showsOutages: Bool
    let since: Duration?
    private let after: Int64?
    let limit: Int

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.count <= 1 else {
            throw .usage("'history' takes one circuit's name, or none", verb: Self.name)
        }
        self.circuit = arguments.operands.first
        self.follows = arguments.has(Self.follow)
        self.showsOutages = arguments.has(Self.outages)
        guard !self.showsOutages || !self.follows && arguments[Self.after] == nil else {
            throw .usage(
                "'--outages' shows outages, not events: give neither '--follow' nor '--after'", verb: Self.name)
        }
        self.since = try arguments.duration(Self.since)
        var after: Int64?
        if let text = arguments[Self.after] {
            guard let id = Int64(text), id >= 0 else {
                throw .usage("option '--after' takes an event's id, not \(text.quoted)", verb: Self.name)
            }
            after = id
        }
        self.after = after
        let limit = try Self.limit(in: arguments, of: Self.self)
        guard limit == nil || after == nil || !self.follows else {
            throw .usage("'--after' with '--follow' leaves no event out: give no '--limit'", verb: Self.name)
        }
        // An operator who follows the file from an event on wants all events since.
        let isUnlimited = after == nil ? since != nil : self.follows
        self.limit = limit ?? (isUnlimited ? .max : Self.usualLimit)
    }

    /// The number that `--limit` gives.
    static func limit(
        _ option: Option = HistoryVerb.limit, in arguments: Arguments, of verb: any Verb.Type
    ) throws(Failure) -> Int? {
        guard let text = arguments[option] else { return nil }
        guard let limit = Int(text), limit > 0 else {
            throw .usage("option '--limit' takes a number above zero, not \(text.quoted)", verb: verb.name)
        }
        return limit
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        if self.follows { return try self.follow(in: context) }
        if self.showsOutages { return try self.showOutages(in: context) }
        let (found, live) = try context.reading { (store) throws(BreakerStoreError) in
            try store.view { (inspection) throws(BreakerStoreError) in
                (try self.wanted(in: inspection, asJSON: context.isJSON), try inspection.liveWorkers())
            }
        }
        let events = try found.get()
        _ = self.report(events, live, in: context)
        if events.isEmpty, !context.isJSON { context.console.writeError("nothing happened\n") }
        return .done
    }

    /// The wanted events, oldest first; enough for the wanted number of lines.
    func wanted(
        in inspection: StoreView, asJSON isJSON: Bool
    ) throws(BreakerStoreError) -> Outcome<[CircuitEvent]> {
        let limit = isJSON ? self.limit : EventLine.events(forLines: self.limit)
        let events =
            if let after = self.after {
                try self.all(after: after, limit: limit, in: inspection)
            } else {
                Array(try inspection.history(of: self.circuit, limit: limit).reversed())
            }
        // The history of a circuit outlives the circuit, so only a name without events is wrong.
        if events.isEmpty, let circuit = self.circuit, try !inspection.hasCircuit(circuit),
            try inspection.history(of: circuit, limit: 1).isEmpty,
            case .failure(let failure) = try Selection(name: circuit).one(in: inspection)
        {
            return .failure(failure)
        }
        let earliest = self.since.map { inspection.now.addingTimeInterval(-($0 / .seconds(1))) }
        return .success(events.filter { event in earliest.map { event.at >= $0 } ?? true })
    }

    private func all(
        after id: Int64, limit: Int, in inspection: StoreView
    ) throws(BreakerStoreError) -> [CircuitEvent] {
        guard self.follows else { return try inspection.history(of: self.circuit, after: id, limit: limit) }
        return try inspection.history(after: id).filter(self.wants)
    }

    func wants(_ event: CircuitEvent) -> Bool {
        guard let wanted = self.circuit else { return true }
        return [event.circuit, event.circuit?.escaped].contains { $0?.utf8.elementsEqual(wanted.utf8) == true }
    }

    /// Prints events; returns the table for later events.
    func report(_ events: [CircuitEvent], _ live: LiveWorkers?, in context: Context) -> EventTable {
        let shown = EventLine.all(events)
        let lines = self.after == nil ? shown.suffix(self.limit) : shown.prefix(self.limit)
        var table = EventTable(
            Array(lines), namingCircuits: self.circuit == nil, mayGrow: self.follows,
            onTerminal: context.console.width != nil)
        if context.isJSON {
            context.console.write(JSONDocument.history(events, degraded: live?.seen))
        } else {
            table.print(width: context.console.width, context.style) { context.console.write($0) }
        }
        return table
    }
}

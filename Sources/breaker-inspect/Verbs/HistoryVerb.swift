import BreakerStore
import BreakerStoreJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `history`: what happened, and who did it.
struct HistoryVerb: Verb {
    static let name = "history"
    static let synopsis = "[NAME]"
    static let summary = "show what happened to one circuit or to all, oldest first"
    static let details = """
        Shows the newest 100 events, or all since --since. A DURATION is such as 90s,
        15m, 1.5h or 2d.
        """
    static let since = Option("since", "DURATION", help: "only what happened so long ago or later")
    static let limit = Option("limit", "N", help: "the newest N at most")
    static let follow = Option("follow", help: "go on with what happens from now on, until Ctrl-C")
    static let options: [Option] = [Self.since, Self.limit, Self.follow]

    private static let usualLimit = 100

    let circuit: String?
    private let follows: Bool
    private let since: Duration?
    private let limit: Int

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.count <= 1 else {
            throw .usage("'history' takes one circuit's name, or none", verb: Self.name)
        }
        self.circuit = arguments.operands.first
        self.follows = arguments.has(Self.follow)
        var since: Duration?
        if let text = arguments[Self.since] { since = try DurationArgument.parse(text, for: Self.since) }
        self.since = since
        guard let text = arguments[Self.limit] else {
            self.limit = since == nil ? Self.usualLimit : .max
            return
        }
        guard let limit = Int(text), limit > 0 else {
            throw .usage("option '--limit' takes a number above zero, not \(text.quoted)", verb: Self.name)
        }
        self.limit = limit
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        if self.follows { return try self.follow(in: context) }
        let newest = try context.reading { (store) throws(BreakerStoreError) in
            try store.inspect { (inspection) throws(BreakerStoreError) in try self.newest(in: inspection, for: context)
            }
        }.get()
        _ = self.report(newest, in: context)
        if newest.isEmpty, !context.isJSON { context.console.writeError("nothing happened\n") }
        return .done
    }

    /// The newest events that are wanted, the oldest of them first.
    func newest(
        in inspection: StoreInspection,
        for context: Context
    ) throws(BreakerStoreError) -> Outcome<[CircuitEvent]> {
        let newest = try inspection.history(of: self.circuit, limit: self.limit)
        // The history of a circuit outlives it: only a name that nobody ever had is wrong.
        if newest.isEmpty, let circuit = self.circuit, try !inspection.hasCircuit(circuit),
            case .failure(let failure) = try Selection(name: circuit).one(in: inspection)
        {
            return .failure(failure)
        }
        let earliest = self.since.map { context.now.addingTimeInterval(-($0 / .seconds(1))) }
        return .success(newest.filter { event in earliest.map { event.at >= $0 } ?? true }.reversed())
    }

    /// Prints events, and returns the table in which others may follow.
    func report(_ events: [CircuitEvent], in context: Context) -> Table {
        let table = Table.events(events, namingCircuits: self.circuit == nil, mayGrow: self.follows)
        if context.isJSON {
            context.console.write(JSONDocument.history(events))
        } else if !events.isEmpty {
            table.forEachLine(width: context.console.width, context.style) { context.console.write($0) }
        }
        return table
    }
}

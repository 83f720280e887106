import BreakerStore

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
        Shows the newest 100 events, or all since --since. A DURATION is such as 90s, 15m, 1.5h or 2d.
        """
    static let since = Option("since", "DURATION", help: "only what happened so long ago or later")
    static let limit = Option("limit", "N", help: "the newest N at most")
    static let options: [Option] = [Self.since, Self.limit]

    private static let usualLimit = 100

    private let circuit: String?
    private let since: Duration?
    private let limit: Int

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.count <= 1 else {
            throw .usage("'history' takes one circuit's name, or none", verb: Self.name)
        }
        self.circuit = arguments.operands.first
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
        let newest = try context.reading { (store) throws(BreakerStoreError) in
            try store.history(of: self.circuit, limit: self.limit)
        }
        // The history of a circuit outlives it: only a name that nobody ever had is wrong.
        if newest.isEmpty, let circuit = self.circuit {
            _ = try Selection(name: circuit).find(in: context)
        }
        let earliest = self.since.map { context.now.addingTimeInterval(-($0 / .seconds(1))) }
        let events = newest.filter { event in earliest.map { event.at >= $0 } ?? true }.reversed()
        if context.isJSON {
            context.console.write(JSONValue.document(["events": .array(events.map { .event($0) })]))
        } else if events.isEmpty {
            context.console.writeError("nothing happened\n")
        } else {
            let table = Table.events(Array(events), namingCircuits: self.circuit == nil)
            context.console.write(table.text(width: context.console.width, context.style))
        }
        return .done
    }
}

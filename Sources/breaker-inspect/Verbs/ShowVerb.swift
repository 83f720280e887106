import BreakerStore
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `show`: all about one circuit.
struct ShowVerb: Verb {
    static let name = "show"
    static let synopsis = "NAME"
    static let operands: [Operand] = [.one(.circuit)]
    static let summary = "show all of one circuit, with its last events"
    static let details = """
        On a terminal it shows as many of the last events as fit below the rest, else
        10. The strip of failures shows when they were within the window: a digit for
        how many, + for ten and more.
        """
    static let limit = Option(HistoryVerb.limit.name, "N", help: "how many of the last events at most")
    static let options: [Option] = [Self.limit]

    /// How many of the newest events are searched for outages.
    private static let maxEventsRead = 1_000

    private let circuit: String
    private let limit: Int?

    init(_ arguments: Arguments) throws(Failure) {
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("'show' takes one circuit's name", verb: Self.name)
        }
        self.circuit = name
        self.limit = try HistoryVerb.limit(Self.limit, in: arguments, of: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let selection = Selection(name: self.circuit)
        // No terminal has room for more events than it has lines.
        let usual = CircuitDetail.usualEvents
        let lines = self.limit ?? (context.isJSON ? usual : max(usual, context.console.height ?? 0))
        let limit = context.isJSON ? lines : EventLine.events(forLines: lines)
        let detail = try context.reading { (store) throws(BreakerStoreError) in
            try store.view { (inspection) throws(BreakerStoreError) in
                switch try selection.one(in: inspection) {
                case .failure(let failure): return Outcome<CircuitDetail>.failure(failure)
                case .success(let circuit):
                    let read = max(limit, Self.maxEventsRead)
                    let events = try inspection.history(of: self.circuit, limit: read)
                    return .success(
                        CircuitDetail(
                            inspected: circuit,
                            events: Array(events.prefix(limit)),
                            outages: Spell.all(events.reversed(), [circuit], now: circuit.now)
                                .filter { $0.kind == .outage },
                            link: inspection.link,
                            creation: try inspection.creation(),
                            live: try inspection.liveWorkers(),
                            now: circuit.now
                        )
                    )
                }
            }
        }.get()
        if context.isJSON {
            context.console.write(detail.json)
        } else {
            context.console.write(detail.text(in: context.console, limit: self.limit, context.style))
            if let notice = detail.live.notice { context.writeFooter(notice) }
        }
        return .done
    }
}

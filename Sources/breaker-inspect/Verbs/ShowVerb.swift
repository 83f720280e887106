import BreakerStore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `show`: all of one circuit.
struct ShowVerb: Verb {
    static let name = "show"
    static let synopsis = "NAME"
    static let summary = "show all of one circuit, with its last events"
    static let details = ""
    static let options: [Option] = []

    private static let eventsShown = 10

    private let circuit: String

    init(_ arguments: Arguments) throws(Failure) {
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("'show' takes one circuit's name", verb: Self.name)
        }
        self.circuit = name
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let found = try Selection([self.circuit], isExact: true).find(in: context).circuits
        guard let circuit = found.first else { throw .noSuchCircuit(self.circuit, nearest: nil) }
        let (workers, events) = try context.reading { (store) throws(BreakerStoreError) in
            (try store.workers(), try store.history(of: circuit.name, limit: Self.eventsShown))
        }
        let detail = CircuitDetail(circuit: circuit, workers: workers, events: events, now: context.now)
        if context.isJSON {
            context.console.write(JSONValue.document(detail.json))
        } else {
            context.console.write(detail.text(width: context.console.width, context.style))
        }
        return .done
    }
}

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
        let selection = Selection(name: self.circuit)
        let detail = try context.reading { (store) throws(BreakerStoreError) in
            try store.inspect { (inspection) throws(BreakerStoreError) in
                switch try selection.one(in: inspection) {
                case .failure(let failure): return Outcome<CircuitDetail>.failure(failure)
                case .success(let circuit):
                    return .success(
                        CircuitDetail(
                            inspected: circuit,
                            workers: try inspection.workers(),
                            events: try inspection.history(of: self.circuit, limit: Self.eventsShown),
                            now: context.now
                        )
                    )
                }
            }
        }.get()
        if context.isJSON {
            context.console.write(detail.json)
        } else {
            context.console.write(detail.text(width: context.console.width, context.style))
        }
        return .done
    }
}

import BreakerStore
import BreakerStoreJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `workers`: the processes that have the store open.
struct WorkersVerb: Verb {
    static let name = "workers"
    static let synopsis = ""
    static let summary = "show the processes that have the store open"
    static let details = ""
    static let options: [Option] = []

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.isEmpty else { throw .usage("'workers' takes no names", verb: Self.name) }
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let (workers, now) = try context.reading { (store) throws(BreakerStoreError) in
            try store.inspect { (inspection) throws(BreakerStoreError) in (try inspection.workers(), inspection.now) }
        }
        if context.isJSON {
            context.console.write(JSONDocument.workers(workers))
        } else if workers.isEmpty {
            context.console.writeError("no process has the store open\n")
        } else {
            var table = Table(columns: [
                .init(title: "NAME", minimumWidth: 16, isName: true), .init(title: "PID", isRightAligned: true),
                .init(title: "SINCE", isRightAligned: true), .init(title: "PROBING", minimumWidth: 12),
            ])
            for worker in workers {
                let probing = worker.probing.map(\.escaped).joined(separator: ", ")
                table.append([
                    .init(text: worker.name.escaped), .init(text: String(worker.pid)),
                    .init(text: "\(max(.zero, now.since(worker.since)).readable) ago"),
                    .init(text: probing.isEmpty ? "-" : probing),
                ])
            }
            context.console.write(table.text(width: context.console.width, context.style))
        }
        return .done
    }
}

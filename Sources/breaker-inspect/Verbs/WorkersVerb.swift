import BreakerStore
import BreakerStoreJSON
import BreakerTool

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
    static let details = """
        DEGRADED is how long ago a worker lost the use of the file: it guards its
        circuits in memory. Without such workers the column is left out.
        """
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
            context.console.write(Self.table(workers, now).text(width: context.console.width, context.style))
        }
        return .done
    }

    private static func table(_ workers: [WorkerSnapshot], _ now: Date) -> Table {
        func age(_ date: Date) -> String { "\(max(.zero, now.since(date)).readable) ago" }
        let isAnyDegraded = workers.contains { $0.degradedSince != nil }
        var columns: [Table.Column] = [
            .init(title: "NAME", minimumWidth: 16, isName: true), .init(title: "PID", isRightAligned: true),
            .init(title: "SINCE", isRightAligned: true),
        ]
        if isAnyDegraded { columns.append(.init(title: "DEGRADED", isRightAligned: true)) }
        var table = Table(columns: columns + [.init(title: "PROBING", minimumWidth: 12)])
        for worker in workers {
            let probing = worker.probing.map(\.escaped).joined(separator: ", ")
            var cells: [Table.Cell] = [
                .init(text: worker.name.escaped), .init(text: String(worker.pid)), .init(text: age(worker.since)),
            ]
            if isAnyDegraded {
                let since = worker.degradedSince.map(age)
                cells.append(.init(text: since ?? "-", look: since == nil ? .plain : .bad))
            }
            table.append(cells + [.init(text: probing.isEmpty ? "-" : probing)])
        }
        return table
    }
}

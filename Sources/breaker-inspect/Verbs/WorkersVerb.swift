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
        VERSION is the release of the library that a worker runs.
        DEGRADED is how long ago a worker lost the use of the file: it guards its
        circuits in memory. One that is outside runs a release that can't use the file,
        and obeys no hold or reset. LINK is the state of the link that joins the store
        with those of other hosts. Empty columns are left out.
        """
    static let options: [Option] = []

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.isEmpty else { throw .usage("'workers' takes no names", verb: Self.name) }
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let (workers, live, link) = try context.reading { (store) throws(BreakerStoreError) in
            try store.view { (inspection) throws(BreakerStoreError) in
                (try inspection.workers(), try inspection.liveWorkers(), inspection.link)
            }
        }
        let outside = live.outside.map(\.id.rawValue)
        if context.isJSON {
            context.console.write(
                JSONDocument.workers(workers, outside: outside, link: link.seen, degraded: live.seen))
        } else if live.count == 0 {
            context.console.writeError("no process has the store open\n")
        } else if !workers.isEmpty {
            let table = Self.table(workers, outside: outside, link, live.now)
            context.console.write(table.text(width: context.console.width, context.style))
        }
        let withoutRow = live.degraded.count { $0.worker == nil }
        if !context.isJSON, withoutRow > 0 {
            let processes = withoutRow == 1 ? "process" : "processes"
            context.console.writeError(
                "\(withoutRow) more \(processes) could not use the file from the start: see '\(Tool.name) doctor'\n")
        }
        if !context.isJSON, let trouble = link.trouble(at: context.now) { context.console.writeError("\(trouble)\n") }
        return .done
    }

    private static func table(
        _ workers: [WorkerSnapshot], outside: [WorkerSnapshot.ID], _ link: LinkStanding, _ now: Date
    ) -> Table {
        let note = link.livingNote
        let hasLink = workers.contains { $0.pid == note?.pid }
        func age(_ date: Date) -> String { "\(max(.zero, now.since(date)).readable) ago" }
        let isAnyDegraded = workers.contains { $0.degradedSince != nil }
        var columns: [Table.Column] = [
            .init(title: "NAME", isName: true), .init(title: "PID", isRightAligned: true),
            .init(title: "SINCE", isRightAligned: true),
        ]
        let hasVersions = workers.contains { $0.version != nil }
        if hasVersions { columns.append(.init(title: "VERSION")) }
        if isAnyDegraded { columns.append(.init(title: "DEGRADED", isRightAligned: true)) }
        if hasLink { columns.append(.init(title: "LINK")) }
        var table = Table(columns: columns + [.init(title: "PROBING", mayStandBelow: true)])
        for worker in workers {
            let probing = worker.probing.map(\.escaped).joined(separator: ", ")
            var cells: [Table.Cell] = [
                .init(text: worker.name.escaped), .init(text: String(worker.pid)), .init(text: age(worker.since)),
            ]
            if hasVersions { cells.append(.init(text: worker.version?.escaped ?? "-")) }
            if isAnyDegraded {
                let since = outside.contains(worker.id) ? "outside" : worker.degradedSince.map(age)
                cells.append(.init(text: since ?? "-", look: since == nil ? .plain : .bad))
            }
            if hasLink {
                let own = worker.pid == note?.pid ? note : nil
                let word = own.map { $0.isJoined ? "joined" : "cut off" }
                cells.append(.init(text: word ?? "-", look: own?.isJoined == false ? .bad : .plain))
            }
            table.append(cells + [.init(text: probing.isEmpty ? "-" : probing)])
        }
        return table
    }
}

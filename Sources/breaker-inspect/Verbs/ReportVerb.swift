import BreakerStore
import BreakerTool

/// `report`: writes a page for a ticket.
struct ReportVerb: Verb {
    static let name = "report"
    static let synopsis = "FILE.html"
    static let summary = "write a page about the store, for a ticket after an incident"
    static let details = """
        The page shows the circuits, their outages and holds with who and why, their
        calls and rules, the processes and the history. It is one file that needs no
        network, for phones, screens and paper. Older outages of a circuit and long
        tables are folded until a click. It shows at most 1,000 circuits, those that
        refuse calls first, and the newest events of the history.
        """
    static let force = Option("force", help: "replace the file if there is one")
    static let operands: [Operand] = [.one(.file)]
    static let options: [Option] = [Self.force]
    static let refusedOptions: [Option] = [.json]

    private let path: String
    private let mayReplace: Bool

    init(_ arguments: Arguments) throws(Failure) {
        guard let path = arguments.operands.first, arguments.operands.count == 1, !path.isEmpty else {
            throw .usage("'report' takes the name of the file to write", verb: Self.name)
        }
        guard !arguments.has(.json) else {
            throw .usage(
                "'report' writes a page", hint: "'\(Tool.name) list --json' and 'history --json' are for scripts")
        }
        self.path = path
        self.mayReplace = arguments.has(Self.force)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let store = try context.path()
        let report = try context.reading { (opened) throws(BreakerStoreError) in
            try opened.view { (inspection) throws(BreakerStoreError) in try Report(of: inspection, at: store) }
        }
        let page = ReportPage(report: report, host: context.console.hostName, who: context.who)
        // Not readable by all users, like the store itself.
        try FileReplacement.write(self.path, mode: 0o600, mayReplace: self.mayReplace, butNot: [store]) {
            (write) throws(Failure) in
            for part in page.parts { try write(part) }
        }
        context.console.writeError("\(Tool.name): wrote \(self.path.quoted)\n")
        return .done
    }
}

import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `reset`: closes circuits and forgets their failures, probes, trips and holds.
struct ResetVerb: Verb {
    static let name = "reset"
    static let synopsis = "(NAME|PATTERN… | --group GROUP | --all)"
    static let operands: [Operand] = [.many(.circuit)]
    static let summary = "close circuits and forget their failures, trips and holds"
    static let details = """
        Running services obey at their next call. A name is reset at once.
        Shows what a pattern, --group or --all matches, and asks; asks also before it
        ends another operator's hold. Patterns hold *, ? or [ as in a shell; quote them.
        """ + "\n" + Change.details
    static let options = Change.options

    private let change: Change

    init(_ arguments: Arguments) throws(Failure) {
        self.change = try Change(arguments, operands: arguments.operands, verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let plan = Change.Plan(
            question: "reset",
            expectedOfUnreadable: StateWord.closed.rawValue,
            expected: { _ in StateWord.closed.rawValue },
            endsHolds: (one: "A reset ends that hold.", several: "A reset ends these holds."),
            begin: { (store, selectors, check) throws(BreakerStoreError) in
                try store.command(
                    .reset, on: selectors, by: context.who, reason: self.change.reason, mayEndHold: check)
            }
        )
        return try self.change.run(plan, in: context)
    }
}

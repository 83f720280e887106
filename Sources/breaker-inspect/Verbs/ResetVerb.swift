import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `reset`: closes circuits and forgets their failures, probes, trips and holds.
struct ResetVerb: Verb {
    static let name = "reset"
    static let synopsis = "(NAME|PATTERN… | --all)"
    static let operands: [Operand] = [.many(.circuit)]
    static let summary = "close circuits and forget their failures, trips and holds"
    static let details = """
        Running services obey at their next call. A name is reset at once; what a
        pattern matches, or --all, is shown first, and you are asked. Patterns hold
        *, ? or [ as in a shell; quote them.
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
            begin: { (store, selectors) throws(BreakerStoreError) in
                try store.command(.reset, on: selectors, by: context.who, reason: self.change.reason)
            }
        )
        return try self.change.run(plan, in: context)
    }
}

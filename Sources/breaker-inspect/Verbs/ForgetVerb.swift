import BreakerStore
import BreakerTool

/// `forget`: deletes circuits that no service uses any longer.
struct ForgetVerb: Verb {
    static let name = "forget"
    static let synopsis = "(NAME|PATTERN…)"
    static let operands: [Operand] = [.many(.circuit)]
    static let summary = "delete circuits that no service uses; their history stays"
    static let details = """
        Shows what it would delete, and asks. Refuses while a live worker has one of
        them registered; with --force it deletes it all the same, and the worker
        registers it again at its next call.
        """ + "\n" + Change.details
    static let force = Option("force", help: "delete also what live workers have registered")
    static let options: [Option] = [Self.force] + Change.options.filter { ![.all, .allOfGroup].contains($0) }

    private let isForced: Bool
    private let change: Change

    init(_ arguments: Arguments) throws(Failure) {
        self.isForced = arguments.has(Self.force)
        self.change = try Change(arguments, operands: arguments.operands, verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let plan = Change.Plan(
            question: "forget",
            alwaysAsks: true,
            expectedOfUnreadable: StateChange.forgotten,
            expected: { _ in StateChange.forgotten },
            refusesUsed: !self.isForced,
            begin: { (store, selectors, _) throws(BreakerStoreError) in
                try store.commandToForget(
                    selectors, evenIfInUse: self.isForced, by: context.who, reason: self.change.reason)
            }
        )
        return try self.change.run(plan, in: context)
    }
}

import BreakerStore
import BreakerStoreJSON

/// `reset`: closes circuits and forgets their failures, probes, trips and holds.
struct ResetVerb: Verb {
    static let name = "reset"
    static let synopsis = "(NAME|PATTERN… | --all)"
    static let summary = "close circuits and forget their failures, trips and holds"
    static let details = """
        Running services obey at their next call. A name is reset at once; what a
        pattern matches, or --all, is shown first, and you are asked. Patterns hold
        *, ? or [ as in a shell; quote them. What they find is left alone where it is
        closed already, not held, and has no failures and trips to forget.
        """
    static let options = Change.options

    private let change: Change

    init(_ arguments: Arguments) throws(Failure) {
        self.change = try Change(arguments, operands: arguments.operands, verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let plan = Change.Plan(
            question: "reset",
            expectedOfUnreadable: StateWord.closed.rawValue,
            expected: { $0.snapshot.isFresh && !self.change.names($0) ? nil : StateWord.closed.rawValue },
            leftAlone: "closed already, with nothing to forget",
            nothingToDo: "all there are closed already, with nothing to forget\n",
            perform: { (store, selectors) throws(BreakerStoreError) in
                try store.perform(.resetUnlessFresh, on: selectors, by: context.who, reason: self.change.reason)
            }
        )
        return try self.change.run(plan, in: context)
    }
}

extension CircuitSnapshot {
    /// Whether a reset would change nothing of it.
    fileprivate var isFresh: Bool {
        self.state == .closed && self.failures.isEmpty && self.tripsInARow == 0
    }
}

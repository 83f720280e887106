import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `release`: ends the holds of circuits.
struct ReleaseVerb: Verb {
    static let name = "release"
    static let synopsis = "(NAME|PATTERN… | --group GROUP | --all)"
    static let operands: [Operand] = [.many(.circuit)]
    static let summary = "end holds; the circuits go on in the state beneath"
    static let details = """
        A name is released at once; what a pattern, --group or --all matches is shown
        first, and you are asked.
        Circuits that are not held are left alone.
        """ + "\n" + Change.details
    static let options = Change.options

    private let change: Change

    init(_ arguments: Arguments) throws(Failure) {
        self.change = try Change(arguments, operands: arguments.operands, verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let plan = Change.Plan(
            question: "release",
            expected: { $0.snapshot.hold == nil ? nil : StateWord($0.snapshot.unheldState).rawValue },
            nothingToDo: "nothing there is held\n",
            begin: { (store, selectors, _) throws(BreakerStoreError) in
                try store.command(.release, on: selectors, by: context.who, reason: self.change.reason)
            }
        )
        return try self.change.run(plan, in: context)
    }
}

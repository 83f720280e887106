#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerTool

/// `release`: ends the holds of circuits on all hosts.
struct ReleaseVerb: Verb {
    static let name = "release"
    static let synopsis = "NAME…"
    static let operands = Change.operands
    static let summary = "end holds on all hosts; the circuits go on in the state beneath"
    static let details = """
        Circuits that are not held are left alone.
        """ + "\n" + Change.details
    static let options = Change.options

    private let change: Change

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        self.change = try Change(arguments, settings, operands: arguments.operands, verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        try self.change.run(
            Change.Plan(
                action: .release, verb: "release",
                expected: { $0.hold == nil ? nil : $0.isOpen ? "open" : "closed" },
                nothingToDo: "nothing there is held\n"),
            in: context)
    }
}
#endif

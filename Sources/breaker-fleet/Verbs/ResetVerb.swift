#if PostgreSQL
import BreakerStore
import BreakerTool

/// `reset`: closes circuits on all hosts.
struct ResetVerb: Verb {
    static let name = "reset"
    static let synopsis = "NAME…"
    static let operands = Change.operands
    static let summary = "close circuits on all hosts, and forget their failures, trips and holds"
    static let details = """
        Asks before it ends another operator's hold. A circuit that a host opens by its
        own rule after the reset stays open there.
        """ + "\n" + Change.details
    static let options = Change.options

    private let change: Change

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        self.change = try Change(arguments, settings, operands: arguments.operands, verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        try self.change.run(
            Change.Plan(
                action: .reset, verb: "reset", expected: { _ in "closed" }, warning: "A reset ends that hold."),
            in: context)
    }
}
#endif

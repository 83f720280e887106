#if PostgreSQL
import BreakerStore
import BreakerTool

/// `hold`: keeps circuits open or closed on all hosts, whatever their calls do.
struct HoldVerb: Verb {
    static let name = "hold"
    static let synopsis = "(open|closed) NAME…"
    static let operands: [Operand] = [.one(.words(Self.words))] + Change.operands
    static let summary = "refuse all calls on all hosts, or let all through"
    static let details = """
        A hold lasts until it is released or reset, or its time is over by each host's
        own clock. Asks before it replaces another operator's hold.
        """ + "\n" + Change.details
    static let duration = Option("for", "DURATION", help: "for how long, such as 90s, 15m or 2h; else until released")
    static let options: [Option] = [Self.duration] + Change.options

    private static let words = [HoldState.open, .closed].map(\.rawValue)

    private let state: HoldState
    private let duration: Duration?
    private let change: Change

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        guard let word = arguments.operands.first, let state = HoldState(rawValue: word) else {
            throw .usage("'hold' needs 'open' or 'closed' before the circuits", verb: Self.name)
        }
        self.state = state
        self.duration = try arguments.duration(Self.duration)
        self.change = try Change(
            arguments, settings, operands: Array(arguments.operands.dropFirst()), verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let word = "held-\(self.state.rawValue)"
        return try self.change.run(
            Change.Plan(
                action: .hold(self.state, for: self.duration), verb: "hold", expected: { _ in word },
                note: self.duration.map { " for \($0.readable)" } ?? " until released",
                warning: "The new hold replaces that one."),
            in: context)
    }
}
#endif

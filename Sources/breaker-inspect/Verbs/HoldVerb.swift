import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `hold`: keeps circuits open or closed, whatever their calls do.
struct HoldVerb: Verb {
    static let name = "hold"
    static let synopsis = "(open|closed) (PATTERN…|--group G|--all)"
    static let operands: [Operand] = [.one(.words(Self.words)), .many(.circuit)]
    static let summary = "refuse all calls, or let all through"
    static let details = """
        A hold lasts until it is released or reset, or its time is over; it survives
        restarts.
        Held open, a circuit refuses all calls. Held closed, it lets all through: that
        is how to turn it off. Its calls still count in the totals and in the metrics,
        but for no rule: what fails or is slow under the hold trips nothing, neither
        then nor when the hold is over. No environment variable does this: the hold
        stands in the store, for all processes, with your name and reason.
        Shows what a pattern, --group or --all matches, and asks; asks also before it
        replaces another operator's hold.
        """ + "\n" + Change.details
    static let duration = Option("for", "DURATION", help: "for how long, such as 90s, 15m or 2h; else until released")
    static let options: [Option] = [Self.duration] + Change.options

    private static let words = [HoldState.open, .closed].map(\.rawValue)

    private let state: HoldState
    private let duration: Duration?
    private let change: Change

    init(_ arguments: Arguments) throws(Failure) {
        guard let word = arguments.operands.first, let state = HoldState(rawValue: word) else {
            let nearest = arguments.operands.first.flatMap { Spelling.nearest(to: $0, among: Self.words) }
            throw .usage(
                "'hold' needs 'open' or 'closed' before the circuits", hint: nearest.map { "did you mean '\($0)'?" },
                verb: Self.name)
        }
        self.state = state
        self.duration = try arguments.duration(Self.duration)
        self.change = try Change(arguments, operands: Array(arguments.operands.dropFirst()), verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let word = StateWord(.held(self.state, until: nil)).rawValue
        let plan = Change.Plan(
            question: "hold \(self.state.rawValue)",
            expectedOfUnreadable: word,
            expected: { _ in word },
            holdEnd: { now in self.duration.map { now.addingTimeInterval($0 / .seconds(1)) } },
            note: { change in change.holdEnd.map { " until \($0.readable)" } ?? " until released" },
            members: { change in
                var members: [String: JSONValue] = [:]
                members.set("until", to: change.holdEnd)
                return members
            },
            endsHolds: (one: "The new hold replaces that one.", several: "The new holds replace these."),
            begin: { (store, selectors, check) throws(BreakerStoreError) in
                let action = OperatorAction.hold(self.state, for: self.duration)
                return try store.command(
                    action, on: selectors, by: context.who, reason: self.change.reason, mayEndHold: check)
            }
        )
        return try self.change.run(plan, in: context)
    }
}

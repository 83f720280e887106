import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The common steps of verbs that change circuits: find, ask, change, report.
struct Change: Sendable {
    static let options: [Option] = [.all, .allOfGroup, .reason, .yes, .dryRun, .exact, .asName]
    /// The end of the verbs' descriptions.
    static let details = """
        More than 1000 circuits are changed in steps, between which services go on.
        After an interrupt or an error it stops at the end of a step, and says how many
        circuits it has changed.
        """

    /// The steps of one verb.
    struct Plan {
        /// The verb in a question, such as "reset".
        var question: String
        /// Whether the operator is asked about names, too.
        var alwaysAsks = false
        /// The new state of a circuit whose row can't be read; nil if its services must write the row.
        var expectedOfUnreadable: String?
        /// The new state of a circuit; nil if the circuit needs no change.
        var expected: (InspectedCircuit) -> String?
        /// The end of the hold that a circuit gets at this time.
        var holdEnd: (Date) -> Date? = { _ in nil }
        /// What is said of a changed circuit in the place of its states; nil for its states.
        var sentence: String?
        /// The text after a circuit's new state.
        var note: (StateChange) -> String = { _ in "" }
        /// The members of the JSON in addition to the states.
        var members: (StateChange) -> [String: JSONValue] = { _ in [:] }
        /// A warning that the change ends one hold or several; nil if it ends none, or is meant to.
        var endsHolds: (one: String, several: String)?
        /// The message if none of the circuits needs a change.
        var nothingToDo = ""
        /// The message if the only circuit that was found needs no change; nil for `nothingToDo`.
        var nothingToDoWith: (InspectedCircuit) -> String? = { _ in nil }
        /// Whether the verb fails, before it asks, if a living worker has registered one of the circuits.
        var refusesUsed = false
        var begin:
            (CircuitStore, [CircuitSelector], OperatorAction.HoldCheck?) throws(BreakerStoreError) -> BatchedCommand
    }

    private let selection: Selection
    let reason: String?
    private let isConfirmed: Bool
    private let isDryRun: Bool

    init(_ arguments: Arguments, operands: [String], verb: any Verb.Type) throws(Failure) {
        self.selection = try Selection(of: arguments, operands: operands, verb: verb)
        self.reason = arguments[.reason]
        self.isConfirmed = arguments.has(.yes)
        self.isDryRun = arguments.has(.dryRun)
    }

    /// Carries out the plan, unless the operator declines.
    func run(_ plan: Plan, in context: Context) throws(Failure) -> ExitCode {
        let found = try self.selection.gather(
            into: Planned(by: context.who), countingWorkers: plan.refusesUsed, in: context
        ) { $0.add($1, plan) }
        if plan.refusesUsed, let failure = found.value.failure(found.unreadable, plan) { throw failure }
        // Unreadable rows that a pattern finds do not stop the change of the others; one that is named does.
        let passedOver = Unreadable(found.unreadable.filter { !plan.takes($0) })
        let named = Unreadable(passedOver.circuits.filter(\.isNamed))
        if let failure = named.failure { throw failure }
        let planned = found.value.changes(with: found.unreadable, plan, at: context.now)
        let holds = found.value.holds
        context.warn(of: found.live)
        if planned.isEmpty || self.isDryRun {
            let isNothing = !found.value.hasCircuits && found.unreadable.isEmpty
            let nothing =
                isNothing
                ? self.selection.nothingFound : found.value.only.flatMap(plan.nothingToDoWith) ?? plan.nothingToDo
            if planned.isEmpty { context.console.writeError(nothing) }
            for line in holds.lines { context.console.writeError("\(line)\n", hanging: 4) }
            self.report(planned, plan, passedOver, found.live, in: context)
            if !planned.isEmpty { context.console.writeError("dry run: nothing was changed\n") }
            return passedOver.report(in: context)
        }
        let isAsked = (found.isBroad || plan.alwaysAsks || !holds.isEmpty) && !self.isConfirmed
        if isAsked, try !self.ask(plan, planned, holds, isBroad: found.isBroad || plan.alwaysAsks, in: context) {
            context.console.writeError("nothing was changed\n")
            return .declined
        }
        // Only confirmed circuits are changed, not those that were created since.
        let selectors =
            isAsked ? planned.map { .namedIfPresent($0.name) } : self.selection.selectors ?? [.pattern("*")]
        let made = try MadeChanges(plan, on: selectors, self.isConfirmed ? nil : holds.check, in: context)
        // Another operator has changed them first.
        if made.changes.isEmpty { context.console.writeError(plan.nothingToDo) }
        self.report(made.changes, plan, passedOver, found.live, in: context)
        let code = passedOver.report(in: context)
        if let failure = made.failure { throw failure }
        return code
    }

    private func ask(
        _ plan: Plan, _ changes: [StateChange], _ holds: OtherHolds, isBroad: Bool, in context: Context
    ) throws(Failure) -> Bool {
        let count = changes.count.counted("circuit")
        let warning = holds.isEmpty ? nil : holds.count == 1 ? plan.endsHolds?.one : plan.endsHolds?.several
        guard context.console.canAsk else {
            let held = holds.lines.first.map { "\($0); " } ?? ""
            throw Failure(
                .usage,
                "\(held)\(plan.question) \(count) needs confirmation, and there is no terminal to ask on",
                hint: "give --yes to confirm, or --dry-run to see what it would change"
            )
        }
        if isBroad {
            context.console.writeError("This would \(plan.question) \(count):\n")
            var lines = ""
            Self.table(changes, plan) { line in
                lines += "  \(line)\n"
                guard lines.utf8.count > Self.previewPiece else { return }
                context.console.writeError(lines, hanging: 4)
                lines = ""
            }
            context.console.writeError(lines, hanging: 4)
        }
        for line in holds.lines { context.console.writeError("\(line)\n", hanging: 4) }
        // Repeats the count, because the first of many lines may have left the screen.
        let question = changes.count == 1 ? "Go on? [y/N] " : "Go on with \(count)? [y/N] "
        context.console.writeError(warning.map { "\($0) \(question)" } ?? question)
        let answer = context.console.readLine()
        // If the input has ended, the cursor is still behind the question.
        if answer == nil { context.console.writeError("\n") }
        return ["y", "yes"].contains(answer?.lowercased())
    }

    private func report(
        _ changes: [StateChange], _ plan: Plan, _ passedOver: Unreadable, _ live: LiveWorkers, in context: Context
    ) {
        guard context.isJSON else {
            return Self.table(changes, plan) { context.console.writeLines($0 + "\n", hanging: 4) }
        }
        let values = changes.lazy.map { (name: $0.name, from: $0.from, to: $0.to, more: plan.members($0)) }
        JSONDocument.writeChanges(
            values, isDryRun: self.isDryRun, unreadable: passedOver.names, degraded: live.seen, context.console.write)
    }

    /// The column of the arrows; a longer name moves only its own arrow.
    private static let widestName = 40
    /// How many bytes of a preview are written at once.
    private static let previewPiece = 65_536

    /// Passes a line for each circuit to `body`, with the arrows in one column.
    private static func table(_ changes: [StateChange], _ plan: Plan, _ body: (String) -> Void) {
        let widths = changes.lazy.map(\.name.escaped.displayWidth).filter { $0 <= Self.widestName }
        let width = widths.max() ?? 0
        for change in changes {
            let name = change.name.escaped
            let padding = String(repeating: " ", count: max(0, width - name.displayWidth))
            body("\(name)\(padding)  \(plan.sentence ?? "\(change.from) -> \(change.to)")\(plan.note(change))")
        }
    }
}

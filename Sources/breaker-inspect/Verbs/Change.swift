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
    static let options: [Option] = [.all, .reason, .yes, .dryRun, .exact, .asName]

    /// The steps of one verb.
    struct Plan {
        /// The verb in a question, such as "reset".
        var question: String
        /// Whether the operator is asked about names, too.
        var alwaysAsks = false
        /// The new state of a circuit whose row can't be read; nil if its services must write the row.
        var expectedOfUnreadable: String?
        /// The new state of a circuit; nil if there is nothing to do.
        var expected: (InspectedCircuit) -> String?
        /// The end of the hold that a circuit gets at this time.
        var holdEnd: (Date) -> Date? = { _ in nil }
        /// The text after a circuit's new state.
        var note: (StateChange) -> String = { _ in "" }
        /// The members of JSON beside the states.
        var members: (StateChange) -> [String: JSONValue] = { _ in [:] }
        /// Says that the change ends a hold, or several; nil if it ends none, or is meant to.
        var endsHolds: (one: String, several: String)?
        /// The message if none of the circuits needs a change.
        var nothingToDo = ""
        var perform:
            (CircuitStore, [CircuitSelector], OperatorAction.HoldCheck?) throws(BreakerStoreError) -> [StateChange]
    }

    private let selection: Selection
    let reason: String?
    private let isConfirmed: Bool
    private let isDryRun: Bool

    init(_ arguments: Arguments, operands: [String], verb: any Verb.Type) throws(Failure) {
        let takesAll = verb.options.contains(.all)
        switch (arguments.has(.all), operands.isEmpty) {
        case (false, true):
            let what = takesAll ? "a circuit's name, a pattern or --all" : "a circuit's name or a pattern"
            throw .usage("'\(verb.name)' needs \(what)", verb: verb.name)
        case (true, false): throw .usage("'\(verb.name)' takes names or --all, not both", verb: verb.name)
        case (true, true), (false, false): break
        }
        self.selection = try Selection(operands, isExact: arguments.has(.exact))
        self.reason = arguments[.reason]
        self.isConfirmed = arguments.has(.yes)
        self.isDryRun = arguments.has(.dryRun)
    }

    /// Carries out the plan, unless the operator says no.
    ///
    /// - Parameter verify: checks the circuits before the operator is asked.
    func run(
        _ plan: Plan,
        in context: Context,
        verify: (Selection.Found) throws(Failure) -> Void = { _ in }
    ) throws(Failure) -> ExitCode {
        let found = try self.selection.find(in: context)
        try verify(found)
        // Unreadable rows that a pattern finds do not stop the change of the others; a named one does.
        let passedOver = Unreadable(found.unreadable.circuits.filter { !Self.takes($0, plan) })
        let named = Unreadable(passedOver.circuits.filter(\.isNamed))
        if let failure = named.failure { throw failure }
        let planned = Self.planned(plan, found, at: context.now)
        let holds = OtherHolds(of: plan.endsHolds == nil ? [] : found.circuits, than: context.who)
        context.warn(of: found.live)
        if planned.isEmpty || self.isDryRun {
            let isNothing = found.circuits.isEmpty && passedOver.circuits.isEmpty
            let nothing = isNothing ? self.selection.nothingFound : plan.nothingToDo
            if planned.isEmpty { context.console.writeError(nothing) }
            for line in holds.lines { context.console.writeError("\(line)\n") }
            self.report(planned, plan, passedOver, found.live, in: context)
            if !planned.isEmpty { context.console.writeError("dry run: nothing was changed\n") }
            return passedOver.tell(in: context)
        }
        let isAsked = (found.isBroad || plan.alwaysAsks || !holds.isEmpty) && !self.isConfirmed
        if isAsked, try !self.ask(plan, planned, holds, isBroad: found.isBroad || plan.alwaysAsks, in: context) {
            context.console.writeError("nothing was changed\n")
            return .declined
        }
        // Only confirmed circuits are changed, not those that came since.
        let confirmed = planned.map { CircuitSelector.namedIfPresent($0.name) }
        let selectors = isAsked ? confirmed : self.selection.selectors ?? [.pattern("*")]
        let check = self.isConfirmed ? nil : holds.check
        let changes = try self.perform(plan, on: selectors, check, in: context)
        // Another operator was faster.
        if changes.isEmpty { context.console.writeError(plan.nothingToDo) }
        self.report(changes, plan, passedOver, found.live, in: context)
        return passedOver.tell(in: context)
    }

    /// Whether the plan covers a circuit whose row can't be read.
    ///
    /// A name that is no UTF-8 can't be given back to SQLite: such a row can only be deleted.
    private static func takes(_ circuit: UnreadableCircuit, _ plan: Plan) -> Bool {
        plan.expectedOfUnreadable == StateChange.forgotten
            || plan.expectedOfUnreadable != nil && !circuit.name.unicodeScalars.contains("\u{FFFD}")
    }

    /// The planned changes, by name.
    private static func planned(_ plan: Plan, _ found: Selection.Found, at now: Date) -> [StateChange] {
        var planned = found.circuits.compactMap { circuit in
            plan.expected(circuit).map {
                StateChange(
                    name: circuit.snapshot.name, from: circuit.snapshot.stateWord.rawValue, to: $0,
                    holdEnd: plan.holdEnd(circuit.now))
            }
        }
        guard let expected = plan.expectedOfUnreadable, !found.unreadable.circuits.isEmpty else { return planned }
        planned += found.unreadable.circuits.filter { Self.takes($0, plan) }.map {
            StateChange(name: $0.name, from: StateChange.unreadable, to: expected, holdEnd: plan.holdEnd(now))
        }
        return planned.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private func perform(
        _ plan: Plan,
        on selectors: [CircuitSelector],
        _ check: OperatorAction.HoldCheck?,
        in context: Context
    ) throws(Failure) -> [StateChange] {
        try context.changing { (store) throws(BreakerStoreError) -> Outcome<[StateChange]> in
            do throws(BreakerStoreError) {
                return .success(try plan.perform(store, selectors, check))
            } catch {
                // The circuit was there, unused or not held, when it was looked up.
                if error.code == .inUse, plan.endsHolds != nil {
                    return .failure(.heldMeanwhile(error.message, doing: plan.question))
                }
                if let failure = Failure(changed: error, doing: plan.question) { return .failure(failure) }
                throw error
            }
        }.get()
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
                "\(held)\(plan.question) \(count) needs a yes, and there is no terminal to ask on",
                hint: "give --yes to do it unasked, or --dry-run to see what it would change"
            )
        }
        if isBroad {
            context.console.writeError("This would \(plan.question) \(count):\n")
            context.console.writeError(Self.table(changes, plan).map { "  \($0)\n" }.joined())
        }
        for line in holds.lines { context.console.writeError("\(line)\n") }
        if let warning { context.console.writeError("\(warning) ") }
        // The count again, because the first lines of many may have left the screen.
        context.console.writeError(changes.count == 1 ? "Go on? [y/N] " : "Go on with \(count)? [y/N] ")
        let answer = context.console.readLine()
        // The end of the input leaves the cursor behind the question.
        if answer == nil { context.console.writeError("\n") }
        return ["y", "yes"].contains(answer?.lowercased())
    }

    private func report(
        _ changes: [StateChange], _ plan: Plan, _ passedOver: Unreadable, _ live: LiveWorkers, in context: Context
    ) {
        guard context.isJSON else {
            for line in Self.table(changes, plan) { context.console.write(line + "\n") }
            return
        }
        let values = changes.map { (name: $0.name, from: $0.from, to: $0.to, more: plan.members($0)) }
        context.console.write(
            JSONDocument.changes(
                values, isDryRun: self.isDryRun, unreadable: passedOver.names, degraded: live.seen))
    }

    /// A longer name moves its own arrow only.
    private static let widestName = 40

    /// A line for each circuit, the arrows below each other.
    private static func table(_ changes: [StateChange], _ plan: Plan) -> [String] {
        let names = changes.map(\.name.escaped)
        let width = names.map(\.displayWidth).filter { $0 <= Self.widestName }.max() ?? 0
        return zip(names, changes).map { name, change in
            let padding = String(repeating: " ", count: max(0, width - name.displayWidth))
            return "\(name)\(padding)  \(change.from) -> \(change.to)\(plan.note(change))"
        }
    }
}

extension Failure {
    /// An error about the named circuits; nil for an error about the store.
    fileprivate init?(changed error: BreakerStoreError, doing question: String) {
        switch error.code {
        case .noSuchCircuit: self.init(.noSuchCircuit, error.message)
        case .inUse: self = .inUse(error.message, doing: question)
        default: return nil
        }
    }

    /// Another operator has put on a hold since the circuits were looked up.
    fileprivate static func heldMeanwhile(_ reason: String, doing question: String) -> Failure {
        Failure(.failed, "cannot \(question): \(reason)", hint: "do it again: then you are asked about that hold")
    }

    static func inUse(_ reason: String, doing question: String) -> Failure {
        Failure(
            .failed,
            "cannot \(question): \(reason)",
            hint: "end the services that use it first, or give --force: they register it anew at their next call"
        )
    }
}

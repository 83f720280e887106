import BreakerStore

/// What the verbs that change circuits have in common: finding them, asking, changing, telling.
struct Change: Sendable {
    static let options: [Option] = [.all, .reason, .yes, .dryRun, .exact, .asName]

    private let selection: Selection
    private let reason: String?
    private let isConfirmed: Bool
    private let isDryRun: Bool

    init(_ arguments: Arguments, operands: [String], verb: String) throws(Failure) {
        switch (arguments.has(.all), operands.isEmpty) {
        case (false, true): throw .usage("'\(verb)' needs a circuit's name, a pattern or --all", verb: verb)
        case (true, false): throw .usage("'\(verb)' takes names or --all, not both", verb: verb)
        case (true, true), (false, false): break
        }
        self.selection = Selection(operands, isExact: arguments.has(.exact))
        self.reason = arguments[.reason]
        self.isConfirmed = arguments.has(.yes)
        self.isDryRun = arguments.has(.dryRun)
    }

    /// Does it, unless the operator says no.
    ///
    /// - Parameters:
    ///   - question: what is done, such as "reset".
    ///   - expected: what a circuit becomes.
    func run(
        _ action: OperatorAction,
        asking question: String,
        expecting expected: (CircuitSnapshot) -> String,
        in context: Context
    ) throws(Failure) -> ExitCode {
        let found = try self.selection.find(in: context)
        let planned = found.circuits.map {
            StateChange(name: $0.name, from: $0.stateWord.rawValue, to: expected($0))
        }
        if planned.isEmpty || self.isDryRun {
            if planned.isEmpty { context.console.writeError(self.selection.nothingFound) }
            self.report(planned, in: context)
            if !planned.isEmpty { context.console.writeError("dry run: nothing was changed\n") }
            return .done
        }
        let isAsked = found.isBroad && !self.isConfirmed
        if isAsked, try !self.ask(question, planned, in: context) {
            context.console.writeError("nothing was changed\n")
            return .declined
        }
        // What was confirmed is what is changed: a circuit that came since is not touched.
        let confirmed = planned.map { CircuitSelector.namedIfPresent($0.name) }
        let selectors = isAsked ? confirmed : self.selection.selectors ?? [.pattern("*")]
        var missing: BreakerStoreError?
        let changes = try context.changing { (store) throws(BreakerStoreError) -> [StateChange] in
            do throws(BreakerStoreError) {
                return try store.perform(action, on: selectors, by: context.who, reason: self.reason)
            } catch  where error.code == .noSuchCircuit {
                missing = error
                return []
            }
        }
        if let missing {
            throw Failure(.noSuchCircuit, missing.message.split(separator: ";").first.map(String.init) ?? "")
        }
        self.report(changes, in: context)
        return .done
    }

    private func ask(_ question: String, _ changes: [StateChange], in context: Context) throws(Failure) -> Bool {
        let count = changes.count == 1 ? "1 circuit" : "\(changes.count) circuits"
        guard context.console.canAsk else {
            throw Failure(
                .usage,
                "\(question) \(count) needs a yes, and there is no terminal to ask on",
                hint: "give --yes to do it unasked, or --dry-run to see what it would change"
            )
        }
        context.console.writeError("This would \(question) \(count):\n")
        context.console.writeError(Self.table(changes).map { "  \($0)\n" }.joined())
        context.console.writeError("Go on? [y/N] ")
        let answer = context.console.readLine()
        // The end of the input leaves the cursor behind the question.
        if answer == nil { context.console.writeError("\n") }
        return ["y", "yes"].contains(answer?.lowercased())
    }

    private func report(_ changes: [StateChange], in context: Context) {
        guard context.isJSON else {
            for line in Self.table(changes) { context.console.write(line + "\n") }
            return
        }
        let values = changes.map {
            JSONValue.object(["from": .string($0.from), "name": .string($0.name), "to": .string($0.to)])
        }
        context.console.write(JSONValue.document(["changes": .array(values), "dryRun": .bool(self.isDryRun)]))
    }

    /// A line for each circuit, the arrows below each other.
    private static func table(_ changes: [StateChange]) -> [String] {
        let names = changes.map(\.name.escaped)
        let width = names.map(\.displayWidth).max() ?? 0
        return zip(names, changes).map { name, change in
            let padding = String(repeating: " ", count: width - name.displayWidth)
            return "\(name)\(padding)  \(change.from) -> \(change.to)"
        }
    }
}

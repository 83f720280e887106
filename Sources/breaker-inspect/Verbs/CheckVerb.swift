import BreakerStore

/// `check`: the exit code says whether all is well.
struct CheckVerb: Verb {
    static let name = "check"
    static let synopsis = "[PATTERN…]"
    static let summary = "exit with 3 if a circuit is not closed, for health checks"
    static let details = """
        Prints a line for each circuit that is not closed.
        One that is held closed is not closed either: nothing is counted.
        A name or pattern that fits no circuit ends with 4; a circuit whose row can't be read
        ends with 1, if no other one is known not to be closed.
        """
    static let options: [Option] = [.exact]

    private let selection: Selection
    private let patterns: [Selection]

    init(_ arguments: Arguments) throws(Failure) {
        let isExact = arguments.has(.exact)
        self.selection = Selection(arguments.operands, isExact: isExact)
        self.patterns = arguments.operands.map { Selection([$0], isExact: isExact) }
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        // A pattern that fits nothing any longer would pass for ever.
        if self.patterns.count > 1 {
            for pattern in self.patterns { try Self.require(pattern.find(in: context), by: pattern) }
        }
        let found = try self.selection.find(in: context)
        if !self.patterns.isEmpty { try Self.require(found, by: self.selection) }
        let notClosed = found.circuits.filter { $0.snapshot.stateWord != .closed }
            .sorted { $0.snapshot.stateWord < $1.snapshot.stateWord }
        if context.isJSON {
            let now = context.now
            let values = notClosed.map { JSONValue.object(JSONValue.circuit($0, at: now)) }
            context.console.write(
                JSONValue.document([
                    "checked": .count(found.circuits.count),
                    "isClosed": .bool(notClosed.isEmpty && found.unreadable.circuits.isEmpty),
                    "notClosed": .array(values), "unreadable": found.unreadable.json,
                ])
            )
        } else {
            for circuit in notClosed {
                let word = circuit.snapshot.stateWord
                context.console.write(
                    "\(circuit.snapshot.name.escaped)  \(context.style.paint(word.rawValue, word.look))\n")
            }
        }
        return found.unreadable.tell(in: context, orElse: notClosed.isEmpty ? .done : .notClosed)
    }

    private static func require(_ found: Selection.Found, by selection: Selection) throws(Failure) {
        guard found.circuits.isEmpty, found.unreadable.circuits.isEmpty else { return }
        throw Failure(
            .noSuchCircuit,
            String(selection.nothingFound.dropLast()),
            hint: "'\(Tool.name) list' shows those there are"
        )
    }
}

import BreakerStore

/// `list`: a line for each circuit.
struct ListVerb: Verb {
    static let name = "list"
    static let synopsis = "[PATTERN…]"
    static let summary = "show the circuits, those that refuse calls first"
    static let details = """
        A PATTERN is a circuit's name, or a text with *, ? or [ in it that names may match.
        FAILURES are those that count now, of those that trip the circuit.
        """
    static let options: [Option] = [.state, .group, .exact]

    private let selection: Selection
    private let filter: CircuitFilter

    init(_ arguments: Arguments) throws(Failure) {
        self.selection = Selection(arguments.operands, isExact: arguments.has(.exact))
        self.filter = try CircuitFilter(states: arguments[.state], group: arguments[.group])
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        if context.isJSON { try self.printJSON(in: context) } else { try self.printTable(in: context) }
        return .done
    }

    private func printTable(in context: Context) throws(Failure) {
        let now = context.now
        // Very many circuits: each becomes text as soon as it is read.
        let found = try self.selection.gather(
            into: (table: Table.circuits(), count: 0), countingWorkers: false, in: context
        ) { found, circuit in
            found.count += 1
            if self.filter.admits(circuit.snapshot) { found.table.append(circuit.snapshot, at: now) }
        }.value
        if found.table.isEmpty {
            context.console.writeError(
                found.count > 0 ? "no circuit is of that state and group\n" : self.selection.nothingFound)
        } else {
            found.table.forEachLine(width: context.console.width, context.style) { context.console.write($0) }
        }
    }

    private func printJSON(in context: Context) throws(Failure) {
        let now = context.now
        let found = try self.selection.gather(into: JSONList(), in: context) { list, circuit in
            guard self.filter.admits(circuit.snapshot) else { return }
            list.append(JSONValue.circuit(circuit, at: now), rank: circuit.snapshot.stateWord.urgency)
        }.value
        found.writeDocument(naming: "circuits", to: context.console)
    }
}

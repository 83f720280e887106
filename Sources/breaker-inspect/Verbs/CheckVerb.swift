import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `check`: reports by its exit code whether all circuits are closed.
struct CheckVerb: Verb {
    static let name = "check"
    static let synopsis = "[PATTERN…]"
    static let operands: [Operand] = [.many(.circuit)]
    static let summary = "exit with 3 if a circuit is not closed, for health checks"
    static let details = """
        Prints a line for each circuit that is not closed.
        One that is held closed is not closed either: nothing is counted. One that
        only observes refuses nothing and counts as closed, unless it is held.
        If a name or pattern matches no circuit it exits with 4; if a circuit's row
        can't be read, with 1, unless another circuit is known not to be closed.
        If all are closed, but a live worker can't use the file and so guards its
        circuits in memory, it exits with 6, and says so.
        """
    static let options: [Option] = [.exact]

    private let selection: Selection
    private let patterns: [Selection]

    init(_ arguments: Arguments) throws(Failure) {
        let isExact = arguments.has(.exact)
        self.selection = try Selection(arguments.operands, isExact: isExact)
        var patterns: [Selection] = []
        for operand in arguments.operands { patterns.append(try Selection([operand], isExact: isExact)) }
        self.patterns = patterns
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        // A check of a pattern that no longer matches anything would always pass.
        if self.patterns.count > 1 {
            for pattern in self.patterns { try Self.require(Self.read(pattern, in: context), by: pattern) }
        }
        let found = try Self.read(self.selection, in: context)
        if !self.patterns.isEmpty { try Self.require(found, by: self.selection) }
        let unreadable = Unreadable(found.unreadable)
        let notClosed = found.value.notClosed.sorted {
            let (one, other) = ($0.snapshot, $1.snapshot)
            guard one.stateWord == other.stateWord else { return one.stateWord < other.stateWord }
            return one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
        }
        if context.isJSON {
            context.console.write(
                JSONDocument.check(
                    ofCount: found.value.count, notClosed: notClosed.map(\.seen), unreadable: unreadable.names,
                    degraded: found.live.seen))
        } else {
            for circuit in notClosed.map(\.snapshot) {
                let word = circuit.stateWord
                context.console.write("\(circuit.name.escaped)  \(context.style.paint(word.rawValue, word.look))\n")
            }
        }
        context.warn(of: found.live)
        let code = unreadable.report(in: context, orElse: notClosed.isEmpty ? .done : .notClosed)
        return code == .done && !found.live.degraded.isEmpty ? .degraded : code
    }

    /// How many circuits there are, and those that are not closed.
    private typealias Checked = (count: Int, notClosed: [InspectedCircuit])

    private static func read(
        _ selection: Selection,
        in context: Context
    ) throws(Failure) -> StoreView.Found<Checked> {
        try selection.gather(into: (count: 0, notClosed: []), in: context) { checked, circuit in
            checked.count += 1
            let standing = circuit.snapshot.standing
            if standing.word != .closed, !standing.isObserving { checked.notClosed.append(circuit) }
        }
    }

    private static func require(_ found: StoreView.Found<Checked>, by selection: Selection) throws(Failure) {
        guard found.value.count == 0, found.unreadable.isEmpty else { return }
        throw Failure(
            .noSuchCircuit,
            String(selection.nothingFound.dropLast()),
            hint: "'\(Tool.name) list' shows all circuits"
        )
    }
}

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
        Prints a line for each circuit that is not closed; with --refusing, for each
        that refuses calls, with the reason and the time.
        One that is due refuses nobody, and is only listed: its recovery time is over,
        and the next call is a probe. With --strict it counts as open.
        One that is held closed is not closed either: nothing is counted. One that
        only observes refuses nothing and counts as closed, unless it is held.
        With --refusing it exits with 3 only if a circuit refuses calls now: one that
        is held open, open and not due, or half-open with as many probes as it may
        have.
        If a name or pattern matches no circuit it exits with 4; if a circuit's row
        can't be read, with 1, unless another circuit is known not to be closed.
        If all are closed, but a live worker can't use the file and so guards its
        circuits in memory, it exits with 6, and says so.
        """
    static let strict = Option("strict", help: "a circuit that is due counts as open")
    static let refusing = Option("refusing", help: "exit with 3 only if a circuit refuses calls now")
    static let options: [Option] = [Self.strict, Self.refusing, .exact]

    private let selection: Selection
    private let patterns: [Selection]
    private let question: Question

    /// What makes a circuit count as bad.
    private enum Question {
        /// It is not closed, and not due.
        case isNeitherClosedNorDue
        /// It is not closed; one that is due counts as open.
        case isNotClosed
        case isRefusing

        /// Whether the answer is yes for a circuit that is not closed.
        func isTrue(of circuit: InspectedCircuit) -> Bool {
            switch self {
            case .isNeitherClosedNorDue: !circuit.snapshot.isDue
            case .isNotClosed: true
            case .isRefusing: circuit.isRefusing
            }
        }
    }

    init(_ arguments: Arguments) throws(Failure) {
        switch (arguments.has(Self.strict), arguments.has(Self.refusing)) {
        case (true, true): throw .usage("'check' takes '--strict' or '--refusing', not both", verb: Self.name)
        case (true, false): self.question = .isNotClosed
        case (false, true): self.question = .isRefusing
        case (false, false): self.question = .isNeitherClosedNorDue
        }
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
            let (first, second) = (one.standing.urgency, other.standing.urgency)
            guard first == second else { return first < second }
            return one.name.utf8.lexicographicallyPrecedes(other.name.utf8)
        }
        if context.isJSON {
            context.console.write(
                JSONDocument.check(
                    ofCount: found.value.count, notClosed: notClosed.map(\.seen),
                    isRefusing: notClosed.contains(where: \.isRefusing), unreadable: unreadable.names,
                    degraded: found.live.seen))
        } else {
            for circuit in notClosed { self.write(circuit, in: context) }
        }
        context.warn(of: found.live)
        let isBad = notClosed.contains { self.question.isTrue(of: $0) }
        let code = unreadable.report(in: context, orElse: isBad ? .notClosed : .done)
        return code == .done && !found.live.degraded.isEmpty ? .degraded : code
    }

    /// Writes a circuit that is not closed; under `--refusing`, one that refuses calls, as 'run' refuses them.
    private func write(_ circuit: InspectedCircuit, in context: Context) {
        let (name, standing) = (circuit.snapshot.name.escaped, circuit.snapshot.standing)
        guard case .isRefusing = self.question else {
            let hold = circuit.snapshot.hold.map { $0.details(at: circuit.now) } ?? ""
            context.console.writeLines(
                "\(name)  \(context.style.paint(standing.text, standing.look))\(hold)\n", hanging: 4)
            return
        }
        guard circuit.isRefusing else { return }
        let refusal = Refusal(circuit)?.line ?? "refused: \(standing.text)"
        context.console.writeLines("\(name)  \(context.style.paint(refusal, standing.look))\n", hanging: 4)
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

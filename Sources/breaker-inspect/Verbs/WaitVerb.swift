import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `wait`: returns once a circuit is in a state.
struct WaitVerb: Verb {
    static let name = "wait"
    static let synopsis = "NAME --for STATE"
    static let operands: [Operand] = [.one(.circuit)]
    static let summary = "wait until a circuit is in a state; exit with 124 if it is not"
    static let details = """
        STATE is open, due, half-open, closed or held; for a circuit that only observes,
        the state that it would be in. An open circuit that is due is open, too.
        Without --timeout it waits as long as it takes.
        """
    static let state = Option("for", "STATE", .anyOf(StateChoice.self), help: "open, due, half-open, closed or held")
    static let timeout = Option("timeout", "DURATION", help: "how long at most, such as 90s, 15m or 2h")
    static let options: [Option] = [Self.state, Self.timeout]

    /// How often the file is checked for changes.
    private static let interval = Duration.milliseconds(100)

    private let circuit: String
    private let state: StateChoice
    private let timeout: Duration?

    init(_ arguments: Arguments) throws(Failure) {
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("'wait' takes one circuit's name", verb: Self.name)
        }
        guard let word = arguments[Self.state] else {
            throw .usage("'wait' needs '--for' and a state", verb: Self.name)
        }
        self.circuit = name
        self.state = try Arguments.choice(word, of: StateChoice.allCases, for: Self.state)
        self.timeout = try arguments.duration(Self.timeout)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let start = context.uptime
        return try context.watching { (watch) throws(Failure) in
            var circuits = CircuitsWatch(watch, Selection(name: self.circuit), in: context)
            var isFirst = true
            while true {
                let circuit = try self.readCircuit(&circuits, mayFail: !isFirst)
                isFirst = false
                if let circuit, self.state.includes(circuit.snapshot.standing) {
                    return self.report(circuit, isReached: true, circuits.live, in: context)
                }
                let left = self.timeout.map { $0 - (context.uptime - start) }
                if let left, left <= .zero {
                    return self.report(circuit, isReached: false, circuits.live, in: context)
                }
                _ = context.console.pause(for: min(Self.interval, left ?? Self.interval), listening: false)
            }
        }
    }

    /// Reads the circuit, or returns the one that was read last.
    ///
    /// A file that can't be read for a while does not end the wait; a forgotten circuit does.
    private func readCircuit(_ circuits: inout CircuitsWatch, mayFail: Bool) throws(Failure) -> InspectedCircuit? {
        do throws(Failure) {
            let circuit = try circuits.circuits().first
            if let failure = circuits.unreadable.failure { throw failure }
            return circuit
        } catch {
            guard mayFail, error.code != .noSuchCircuit else { throw error }
            return circuits.lastCircuits.first
        }
    }

    private func report(
        _ circuit: InspectedCircuit?, isReached: Bool, _ live: LiveWorkers?, in context: Context
    ) -> ExitCode {
        defer { if let live { context.warn(of: live) } }
        if context.isJSON {
            context.console.write(
                JSONDocument.waited(for: circuit?.seen, isReached: isReached, degraded: live?.seen))
        } else if isReached, let circuit {
            let standing = circuit.snapshot.standing
            context.console.writeLines(
                "\(self.circuit.escaped)  \(context.style.paint(standing.text, standing.look))\n")
        }
        guard !isReached else { return .done }
        let word = circuit?.snapshot.standing.text ?? "unknown"
        let time = self.timeout?.readable ?? ""
        context.console.writeError("\(Tool.name): \(self.circuit.quoted) is still \(word) after \(time)\n")
        return .timedOut
    }
}

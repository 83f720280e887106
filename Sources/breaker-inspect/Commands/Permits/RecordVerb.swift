import BreakerStore
import BreakerTool

/// `record`: reports the outcome of a call that was made without asking.
struct RecordVerb: Verb {
    static let name = "record"
    static let synopsis = "NAME OUTCOME"
    static let operands: [Operand] = [.one(.circuit), OutcomeText.operand]
    static let summary = "report the outcome of a call that was made without asking"
    static let details = """
        OUTCOME is success, failure, outage or outage=TIME, as of 'finish'. For tools
        that ask with 'check --refusing NAME', or not at all. If a probe is due, the
        call counts as the probe. 'outage' opens the circuit at once: the provider has
        said that it is down, for that time if there is one. While the circuit is
        open, a success or a failure changes nothing.
        The reporter is the process that runs 'record', or the one that --holder-pid
        names.
        A circuit that is missing is registered; stored rules stay. It exits with 0
        also where the store can't be used: a message says so.
        """
    static let options: [Option] = [OutcomeText.error, Holder.option, RuleText.option]
    static let refusedOptions: [Option] = [.json]

    private let circuit: String
    private let verdict: Verdict
    private let error: String?
    private let holder: Holder
    private let rule: RuleText?

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.count == 2 else {
            throw .usage("'record' takes a circuit's name and an outcome", verb: Self.name)
        }
        self.circuit = arguments.operands[0]
        self.verdict = try OutcomeText.verdict(arguments.operands[1], mayBeIgnored: false, verb: Self.name)
        self.error = OutcomeText.error(arguments)
        self.rule = try RuleText(arguments)
        self.holder = try Holder(arguments, verb: Self.name)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let problem: String?
        switch try CommandCircuit.open(self.circuit, rule: self.rule, in: context) {
        case .unusable(let reason, _): problem = reason
        case .usable(let circuit):
            circuit.breaker.record(self.verdict, error: self.error, reporter: self.holder.process.reporter)
            problem = circuit.trouble
            circuit.store.close()
        }
        if let problem { context.console.writeError("\(Tool.name): nothing was counted: \(problem)\n") }
        return .done
    }
}

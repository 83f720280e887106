import BreakerStore
import BreakerTool

/// `finish`: reports the outcome of a call that `admit` let through.
struct FinishVerb: Verb {
    static let name = "finish"
    static let synopsis = "PERMIT OUTCOME"
    static let operands: [Operand] = [.one(.text), OutcomeText.operand]
    static let summary = "report the outcome of a call that 'admit' let through"
    static let details = """
        OUTCOME is success, failure, ignored, outage or outage=TIME. 'ignored' counts
        for no rule, and frees a probe's slot. 'outage' opens the circuit at once: the
        provider has said that it is down, for that time if there is one. TIME is a
        duration such as 90s, or what the provider has sent as Retry-After: seconds,
        or an HTTP date. Finish each permit once.
        It exits with 0 also where there is nothing to count: the permit was
        finished before, the circuit has changed since, the permit is of an earlier
        boot, of another file, or of a call that counts nowhere, or the store can't be
        used. A message says so, and a hook with 'set -e' goes on. A text that is no
        permit is a wrong command line.
        """
    static let options: [Option] = [OutcomeText.error]
    static let refusedOptions: [Option] = [.json]

    private let text: PermitText
    private let verdict: Verdict
    private let error: String?

    init(_ arguments: Arguments) throws(Failure) {
        guard arguments.operands.count == 2 else {
            throw .usage("'finish' takes a permit and an outcome", verb: Self.name)
        }
        do throws(PermitText.Malformed) {
            self.text = try PermitText(arguments.operands[0])
        } catch {
            throw .usage("this is no permit: \(error.problem)", verb: Self.name)
        }
        self.verdict = try OutcomeText.verdict(arguments.operands[1], mayBeIgnored: true, verb: Self.name)
        self.error = OutcomeText.error(arguments)
    }

    private var isOutage: Bool { if case .outage = self.verdict { true } else { false } }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let path = try context.path()
        // What the provider says is news to all, also from a call that counts nowhere.
        guard self.text.permit.source != .unreported || self.isOutage else {
            context.console.writeError(
                "\(Tool.name): nothing was counted: the permit is one of a call that counts nowhere\n")
            return .done
        }
        var problem: String?
        do throws(BreakerStoreError) {
            problem = try self.report(to: path, in: context)
        } catch {
            problem = context.failure(error, doing: "use").message
        }
        if let problem { context.console.writeError("\(Tool.name): nothing was counted: \(problem)\n") }
        return .done
    }

    /// Reports, and then ends the keeper; returns why nothing was counted.
    private func report(to path: String, in context: Context) throws(BreakerStoreError) -> String? {
        // Without a report, too: the holder has said that the call is over.
        defer { if let keeper = self.text.keeper { Keeper.end(keeper, token: self.text.permit.token) } }
        let store = try CircuitStore(path: path, configuration: context.configuration(.existing))
        defer { store.close() }
        Hook.reached("finish.opened")
        let breaker: CircuitBreaker
        do throws(BreakerStoreError) {
            breaker = try store.breaker(named: self.text.circuit)
        } catch {
            guard error.code == .noSuchCircuit else { throw error }
            return "the store has no circuit \(self.text.circuit.quoted)"
        }
        if self.text.permit.source == .unreported {
            breaker.record(self.verdict, error: self.error, reporter: self.text.holder.reporter)
            return nil
        }
        let result = try breaker.finish(
            self.text.permit, self.verdict, error: self.error, reporter: self.text.holder.reporter)
        Hook.reached("finish.reported")
        switch result {
        case .done: return nil
        case .late: return "the permit was finished before, or circuit \(self.text.circuit.quoted) has changed since"
        case .ofAnotherBootOrFile: return "the permit is of an earlier boot, or of another store"
        }
    }
}

import BreakerStore
import BreakerTool

/// `run`: runs a command as one call of a circuit.
struct RunVerb: Verb {
    static let name = "run"
    static let synopsis = "NAME [OPTION…] -- COMMAND [ARG…]"
    static let operands: [Operand] = [.one(.circuit), .many(.file)]
    static let summary = "run a command, unless the circuit refuses the call"
    static let details = """
        A missing file is created, and a missing circuit registered; stored rules
        stay. The files are for their owner alone; in a setgid directory to which the
        group may write, they are for the group.
        The command's exit code is passed on: 0 is a success, another one a failure.
        If the circuit refuses, run exits with 75, or the code of --refused-code, and
        prints one line on standard error; --json prints the refusal on standard
        output. 126 (the command can't be executed), 127 (there is none) and 130
        (Ctrl-C) count for no rule, nor do the codes of --ignore. Killed by signal N
        is a failure, with 128+N, also by a signal that run has passed on; by SIGINT,
        it counts for no rule.
        Signals that run gets are passed on to the command. If run is killed, the
        kernel kills the command (Linux); what the command has started itself may go
        on.
        After --timeout the command and its process group get SIGTERM, and 5 s later
        SIGKILL: a failure, and exit code 124.
        --wait waits for the end of an open state and for a busy probe, never for a
        hold. A wait that would end later than that is refused at once.
        The command may write into the file of --retry-after-file what a provider has
        sent as Retry-After: seconds, or an HTTP date. If the command then fails, the
        circuit is open for that time. What was in the file before does not count.
        Inside a probe of the circuit, the probe's own descendants run without asking,
        and count nowhere.
        While the store can't be used the command runs, after 3 s at most, and a line
        says so. A hold or an open state that can be read is obeyed all the same.
        --rule takes JSON, too: 'show NAME --json' prints it as the member 'rules'.
        """
    static let timeout = Option("timeout", "DURATION", help: "how long the command may take, such as 90s or 15m")
    static let wait = Option("wait", "DURATION", help: "how long to wait until the circuit lets the call through")
    static let ignore = Option("ignore", "CODES", help: "exit codes that count for no rule, such as 1,64-78")
    static let retryAfterFile = Option(
        "retry-after-file", "FILE", .file, help: "where the command may write an outage that the provider declares")
    static let refusedCode = Option("refused-code", "CODE", help: "the exit code of a refusal; by default 75")
    static let options: [Option] = [
        RuleText.option, Self.timeout, Self.wait, Self.ignore, Self.retryAfterFile, Self.refusedCode,
    ]

    let circuitName: String
    let command: [String]
    let rule: RuleText?
    let timeout: Duration?
    let budget: Duration?
    let ignored: ExitCodeSet
    let retryAfterPath: String?
    let refusedCode: ExitCode

    init(_ arguments: Arguments) throws(Failure) {
        var operands = arguments.operands
        var before = arguments.operandsBeforeDashes
        // A name that begins with a dash stands behind a first `--`.
        if before == 0, operands.count > 1, operands[1] == "--" {
            operands.remove(at: 1)
            before = 1
        }
        guard before == 1, operands.count > 1 else {
            throw .usage(
                "'run' takes one circuit's name, then '--' and a command",
                hint: "such as: \(Tool.name) run payments -- curl -f https://pay.example/health")
        }
        self.circuitName = operands.removeFirst()
        self.command = operands
        guard self.command.first?.isEmpty == false else { throw .usage("the command is empty", verb: Self.name) }
        self.rule = try RuleText(arguments)
        self.timeout = try arguments.duration(Self.timeout)
        self.budget = try arguments.duration(Self.wait)
        var ignored = ExitCodeSet()
        if let text = arguments[Self.ignore] { ignored = try ExitCodeSet(text, of: Self.ignore) }
        self.ignored = ignored
        self.retryAfterPath = arguments[Self.retryAfterFile]
        var code = ExitCode.busy
        if let text = arguments[Self.refusedCode] {
            guard let number = ExitCodeSet.code(text[...]) else {
                throw .usage(
                    "option '\(Self.refusedCode.spelling)' takes an exit code, not \(text.quoted)",
                    hint: "write a number from 1 to 255")
            }
            code = ExitCode(rawValue: number)
        }
        self.refusedCode = code
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        switch try CommandCircuit.open(self.circuitName, rule: self.rule, in: context) {
        case .unusable(_, let refusal?):
            refusal.write(in: context)
            return self.refusedCode
        case .unusable(let reason, nil):
            context.console.writeError("\(Tool.name): the command runs, and counts nowhere: \(reason)\n")
            return self.exit(after: self.runToEnd(in: context), in: context)
        case .usable(let circuit):
            let admitting = Admitting(
                breaker: circuit.breaker, budget: self.budget, caller: .current, context: context)
            let answer = admitting.admission { () throws(CircuitOpenError) in try circuit.breaker.admit() }
            switch answer {
            case .refused(let refusal):
                circuit.store.close()
                refusal.write(in: context)
                return self.refusedCode
            case .partOfProbe:
                circuit.store.close()
                return self.exit(after: self.runToEnd(in: context), in: context)
            case .admitted(let permit): return self.run(by: permit, of: circuit, in: context)
            }
        }
    }
}

import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// `admit`: asks for a call that the caller makes, and reports with `finish`.
struct AdmitVerb: Verb {
    static let name = "admit"
    static let synopsis = "NAME"
    static let operands: [Operand] = [.one(.circuit)]
    static let summary = "ask for one call, for hooks; print the permit that 'finish' takes"
    static let details = """
        For a hook that can't wrap a command in 'run': ask before, report after.

            permit=$(breaker-inspect admit api --holder-pid $$) || exit
            curl …; breaker-inspect finish "$permit" success

        The call is that of the process that runs 'admit', or of the one that
        --holder-pid names: an ancestor, such as $$ for the shell. Standard error
        says which one it is. All calls of one process are those of one reporter.
        A subshell, as in $(admit NAME || exit), and in bash in $(admit NAME
        2>FILE), ends at once: name the shell.
        A probe keeps its slot until 'finish', or until that process ends: a small
        process of its own session renews it, for which no $(…) waits. What that
        process or its descendants call meanwhile passes uncounted.
        It exits with 75, and prints no permit, if the circuit refuses the call.
        A circuit that is missing is registered; stored rules stay. --wait waits as
        that of 'run' does. While the store can't be used the call is let through,
        and its outcome counts nowhere; a message says so.
        """
    static let options: [Option] = [Holder.option, RuleText.option, Self.wait]
    static let wait = RunVerb.wait

    private let circuit: String
    private let holder: Holder
    private let rule: RuleText?
    private let budget: Duration?

    init(_ arguments: Arguments) throws(Failure) {
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("'admit' takes one circuit's name", verb: Self.name)
        }
        self.circuit = name
        self.rule = try RuleText(arguments)
        self.budget = try arguments.duration(Self.wait)
        self.holder = try Holder(arguments, verb: Self.name)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let circuit: CommandCircuit
        switch try CommandCircuit.open(self.circuit, rule: self.rule, in: context) {
        case .unusable(let reason): return self.admitUncounted(because: reason, in: context)
        case .usable(let usable): circuit = usable
        }
        Hook.reached("admit.opened")
        let admitting = Admitting(breaker: circuit.breaker, budget: self.budget, context: context)
        let answer = admitting.ask { () throws(CircuitOpenError) in try circuit.breaker.admitTicket() }
        Hook.reached("admit.admitted")
        switch answer {
        case .refused(let refusal):
            circuit.store.close()
            refusal.write(in: context)
            return .busy
        case .partOfProbe:
            // The outcome of the probe, of which this call is a part, is all that counts.
            circuit.store.close()
            self.write(CallTicket(source: .none), in: context)
            return .done
        case .admitted(let ticket):
            if ticket.source == .probe { return try self.keep(ticket, of: circuit, in: context) }
            let trouble = circuit.trouble
            circuit.store.close()
            guard ticket.source != .none else { return self.admitUncounted(because: trouble, in: context) }
            self.write(ticket, in: context)
            return .done
        }
    }

    /// Hands the slot of a probe to a keeper.
    ///
    /// Until the keeper is released, it ends with this process: an 'admit' that is killed keeps no slot.
    private func keep(_ ticket: CallTicket, of circuit: CommandCircuit, in context: Context) throws(Failure) -> ExitCode
    {
        let keeper: Keeper
        do {
            let lock = try circuit.store.duplicateLock()
            defer { close(lock) }
            let task = Keeper.Task(
                circuit: self.circuit, ticket: ticket, holder: self.holder.process,
                lease: circuit.config.probes.lease, store: circuit.store.path)
            keeper = try Keeper(task, lock: lock)
            Hook.reached("admit.kept")
            try circuit.store.leaveWorker(
                to: self.holder.process, named: self.holder.name, with: ticket, of: self.circuit)
        } catch {
            // The slot is free at once, and the call counts nowhere.
            _ = try? circuit.breaker.finish(ticket, .ignored)
            circuit.store.close()
            guard let error = error as? BreakerStoreError else {
                throw Failure(
                    .failed, "cannot keep the probe's slot: \(Self.reason(error))",
                    hint: "name a process that lives until 'finish' with --holder-pid")
            }
            return self.admitUncounted(because: error.message.escaped, in: context)
        }
        Hook.reached("admit.left")
        self.write(ticket, keptBy: keeper.process, in: context)
        Hook.reached("admit.written")
        // A permit that nobody got: the keeper must not keep the slot for it.
        guard context.console.hasWrittenAll else { return .failed }
        keeper.release()
        Hook.reached("admit.released")
        return .done
    }

    private static func reason(_ error: any Error) -> String {
        switch error as? Keeper.Failure {
        case .holderHasEnded: "the process for which it is held has ended"
        case .systemError(let code): unsafe String(cString: strerror(code))
        case nil: "\(error)"
        }
    }

    /// Lets the call through while the store can't be used: its outcome counts nowhere.
    private func admitUncounted(because reason: String?, in context: Context) -> ExitCode {
        let reason = reason.map { ": \($0)" } ?? ""
        context.console.writeError("\(Tool.name): the call is let through, and its outcome counts nowhere\(reason)\n")
        self.write(CallTicket(source: .none), in: context)
        return .done
    }

    private func write(_ ticket: CallTicket, keptBy keeper: RunningProcess? = nil, in context: Context) {
        let permit = PermitText(
            circuit: self.circuit, ticket: ticket, holder: self.holder.process, keeper: keeper)
        let holder = self.holder
        if context.isJSON {
            context.console.write(
                JSONDocument.admitted(
                    permit: permit.text, circuit: self.circuit, isProbe: permit.ticket.source == .probe,
                    isCounted: permit.ticket.source != .none, holder: (holder.process.pid, holder.name)))
        } else {
            context.console.writeError("holder: \(holder.process.pid) (\(holder.name))\n")
            context.console.write(permit.text + "\n")
        }
        if holder.isSubshell {
            context.console.writeError(
                "\(Tool.name): process \(holder.process.pid) is a subshell, and the permit ends with it\n"
                    + "hint: name the shell with --holder-pid $$\n")
        }
        context.console.flush()
    }
}

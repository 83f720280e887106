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
            curl -f … && outcome=success || outcome=failure
            breaker-inspect finish "$permit" $outcome

        The call is that of the process that runs 'admit', or of the one that
        --holder-pid names: an ancestor, such as $$ for the shell. Standard error
        says which one it is. All calls of one process are those of one reporter.
        A subshell, as in $(admit NAME || exit), and in bash in $(admit NAME
        2>FILE), ends at once, and so does a wrapper such as timeout or sudo: name
        the shell.
        A probe keeps its slot until 'finish', or until that process ends: a small
        background process renews its lease, and no $(…) waits for it. If the permit
        is lost, 'reset' frees the slot. Calls of that process's descendants are a
        part of the probe: they pass, and count nowhere.
        It exits with 75, and prints no permit, if the circuit refuses the call.
        A circuit that is missing is registered; stored rules stay. --wait waits as
        that of 'run' does. While the store can't be used the call is let through,
        and its outcome counts nowhere; a message says so.
        """
    static let options: [Option] = [Holder.option, RuleText.option, Self.wait]
    static let wait = RunVerb.wait

    private let circuitName: String
    private let holder: Holder
    private let rule: RuleText?
    private let budget: Duration?

    init(_ arguments: Arguments) throws(Failure) {
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw .usage("'admit' takes one circuit's name", verb: Self.name)
        }
        self.circuitName = name
        self.rule = try RuleText(arguments)
        self.budget = try arguments.duration(Self.wait)
        self.holder = try Holder(arguments, verb: Self.name)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let circuit: CommandCircuit
        switch try CommandCircuit.open(self.circuitName, rule: self.rule, in: context) {
        case .unusable(_, let refusal?):
            refusal.write(in: context)
            return .busy
        case .unusable(let reason, nil): return self.admitUnreported(because: reason, in: context)
        case .usable(let usable): circuit = usable
        }
        Hook.reached("admit.opened")
        let admitting = Admitting(
            breaker: circuit.breaker, budget: self.budget, caller: self.holder.process, context: context)
        let answer = admitting.admission { () throws(CircuitOpenError) in try circuit.breaker.admitPortable() }
        Hook.reached("admit.admitted")
        switch answer {
        case .refused(let refusal):
            circuit.store.close()
            refusal.write(in: context)
            return .busy
        case .partOfProbe:
            circuit.store.close()
            context.console.writeError(
                "\(Tool.name): the call is a part of a probe, whose outcome alone counts\n")
            self.write(.unreported, in: context)
            return .done
        case .admitted(let permit):
            if permit.source == .probe { return try self.keep(permit, of: circuit, in: context) }
            let trouble = circuit.trouble
            circuit.store.close()
            guard permit.source != .unreported else { return self.admitUnreported(because: trouble, in: context) }
            self.write(permit, in: context)
            return .done
        }
    }

    /// Hands the slot of a probe to a keeper.
    ///
    /// Until the keeper is released, it ends with this process: an 'admit' that is killed keeps no slot.
    private func keep(
        _ permit: PortablePermit, of circuit: CommandCircuit, in context: Context
    ) throws(Failure) -> ExitCode {
        let keeper: Keeper
        let held = permit.held(by: self.holder.process)
        do {
            let lock = try circuit.store.duplicateLock()
            defer { close(lock) }
            let job = Keeper.Job(
                circuit: self.circuitName, permit: held, holder: self.holder.process,
                lease: circuit.config.probes.lease, store: circuit.store.path)
            keeper = try Keeper(job, lock: lock)
            Hook.reached("admit.kept")
            try circuit.store.handOverWorker(
                to: self.holder.process, named: self.holder.name, with: permit, of: self.circuitName)
        } catch {
            // The slot is free at once; the totals count an ignored call.
            _ = try? circuit.breaker.finish(permit, .ignored)
            circuit.store.close()
            guard let error = error as? BreakerStoreError else { throw Self.failure(error as? Keeper.StartError) }
            return self.admitUnreported(because: error.message.escaped, in: context)
        }
        Hook.reached("admit.left")
        self.write(held, keptBy: keeper.process, in: context)
        Hook.reached("admit.written")
        // A permit that nobody got: the keeper must not keep the slot for it.
        guard context.console.hasWrittenAll else { return .failed }
        keeper.release()
        Hook.reached("admit.released")
        return .done
    }

    private static func failure(_ error: Keeper.StartError?) -> Failure {
        let start = "cannot keep the probe's slot"
        switch error {
        case .holderHasEnded:
            return Failure(
                .failed, "\(start): the process for which it is held has ended",
                hint: "name a process that lives until 'finish' with --holder-pid")
        case .keeperIsNotSeen:
            return Failure(
                .failed, "\(start): cannot see the process that keeps it", hint: "check that /proc is mounted")
        case .systemError(let code):
            return Failure(.failed, "\(start): \(unsafe String(cString: strerror(code)))")
        case nil: return Failure(.failed, start)
        }
    }

    /// Lets the call through while the store can't be used: its outcome counts nowhere.
    private func admitUnreported(because reason: String?, in context: Context) -> ExitCode {
        let reason = reason.map { ": \($0)" } ?? ""
        context.console.writeError("\(Tool.name): the call is let through, and its outcome counts nowhere\(reason)\n")
        self.write(.unreported, in: context)
        return .done
    }

    private func write(_ permit: PortablePermit, keptBy keeper: RunningProcess? = nil, in context: Context) {
        let holder = self.holder
        let text = PermitText(circuit: self.circuitName, permit: permit, holder: holder.process, keeper: keeper).text
        if context.isJSON {
            context.console.write(
                JSONDocument.admitted(
                    permit: text, circuit: self.circuitName, isProbe: permit.source == .probe,
                    isCounted: permit.source != .unreported, holder: (holder.process.pid, holder.name)))
        } else {
            context.console.writeError("holder: \(holder.process.pid) (\(holder.name))\n")
            context.console.write(text + "\n")
        }
        if holder.isSubshellByDefault {
            context.console.writeError(
                "\(Tool.name): process \(holder.process.pid) is a subshell, and the permit ends with it\n"
                    + "hint: name the shell with --holder-pid $$\n")
        }
        context.console.flush()
    }
}

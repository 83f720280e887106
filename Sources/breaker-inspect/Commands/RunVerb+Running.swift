import BreakerStore
import BreakerTool
import CBreakerCommand

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Runs the command, and reports how it ended.
extension RunVerb {
    /// How the command ended, and what it means.
    struct Ended {
        var result: CommandProcess.Result
        var outcome: CommandOutcome
    }

    /// Runs the command that a circuit has let through, and renews the lease of a probe's slot meanwhile.
    func run(by permit: CallPermit, of circuit: CommandCircuit, in context: Context) -> ExitCode {
        if let trouble = circuit.trouble {
            context.console.writeError("\(Tool.name): the command runs unguarded: \(trouble)\n")
        }
        let ended = self.start(in: context, renewing: permit.isProbe ? circuit.config.probes.lease / 2 : nil) {
            do throws(BreakerStoreError) {
                return try permit.renew().map { $0 / 2 }
            } catch {
                // It can't be committed now. The slot may last until it can.
                return .seconds(1)
            }
        }
        guard let outcome = ended?.outcome else {
            permit.discard()
            circuit.store.close()
            return self.end(nil, in: context)
        }
        switch outcome.verdict {
        case .success: permit.succeed()
        case .failure, .ignored, .outage: permit.fail(FailedCommand(verdict: outcome.verdict, text: outcome.error))
        }
        circuit.store.close()
        return self.end(ended, in: context)
    }

    /// Runs the command to its end; nil if no process can be made.
    ///
    /// - Parameters:
    ///   - firstRenewal: after how long `renew` is called; nil for never.
    ///   - renew: returns after how long it is due again.
    func start(
        in context: Context, renewing firstRenewal: Duration? = nil, _ renew: @escaping () -> Duration? = { nil }
    ) -> Ended? {
        context.console.flush()
        let file = self.retryAfterPath.map { RetryAfterFile(path: $0) }
        let duties = CommandProcess.Duties(
            uptime: { context.uptime }, timeout: self.timeout, firstRenewal: firstRenewal.map { context.uptime + $0 },
            renew: renew)
        guard let result = CommandProcess.run(self.command, duties) else { return nil }
        let timeout = result.isTimedOut ? self.timeout : nil
        var outcome = CommandOutcome(result.end, timedOutAfter: timeout, ignoring: self.ignored, outage: nil)
        if outcome.verdict == .failure, let file {
            switch file.read() {
            case .none: break
            case .outage(let outage):
                outcome = CommandOutcome(result.end, timedOutAfter: timeout, ignoring: self.ignored, outage: outage)
            case .unusable(let reason):
                context.console.writeError("\(Tool.name): the command has failed, without an outage: \(reason)\n")
            }
        }
        return Ended(result: result, outcome: outcome)
    }

    /// The exit code; where Ctrl-C has ended the command, this process ends as the command did.
    func end(_ ended: Ended?, in context: Context) -> ExitCode {
        guard let ended else {
            context.console.writeError("\(Tool.name): no process can be made for the command\n")
            return .notExecutable
        }
        if case .notExecuted = ended.result.end {
            let word = self.command.first ?? ""
            context.console.writeError("\(Tool.name): \(ended.outcome.error): \(word.quoted)\n")
        }
        // A shell's script goes on unless its command was ended by the signal that the shell has got, too.
        switch ended.result.interruption {
        case .none: break
        case .ofAll: bc_end_by_signal(SIGINT, 0)
        case .ofCommandAlone: bc_end_by_signal(SIGINT, 1)
        }
        return ended.outcome.code
    }
}

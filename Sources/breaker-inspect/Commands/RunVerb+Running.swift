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

    /// Runs the command that a circuit has let through, and renews the lease of a probe's slot until it ends.
    func run(by permit: CallPermit, of circuit: CommandCircuit, in context: Context) -> ExitCode {
        if let trouble = circuit.trouble {
            context.console.writeError("\(Tool.name): the command runs, and may count nowhere: \(trouble)\n")
        }
        let renew = { () -> Duration? in
            do throws(BreakerStoreError) {
                return try permit.renew().map { $0 / 2 }
            } catch {
                // Try again in a second: the lease may last until then.
                return .seconds(1)
            }
        }
        let firstRenewal = permit.isProbe ? circuit.config.probes.lease / 2 : nil
        let ended = self.runToEnd(in: context, renewing: firstRenewal, by: renew)
        let before = circuit.trouble
        permit.report(ended.outcome.verdict, error: ended.outcome.error)
        if before == nil, let trouble = circuit.trouble {
            context.console.writeError("\(Tool.name): the command's outcome may count nowhere: \(trouble)\n")
        }
        circuit.store.close()
        return self.exit(after: ended, in: context)
    }

    /// Runs the command to its end, and reads what it has written into the file of `--retry-after-file`.
    ///
    /// - Parameters:
    ///   - firstRenewal: after how long `renew` is called; nil for never.
    ///   - renew: returns after how long it is due again.
    func runToEnd(
        in context: Context, renewing firstRenewal: Duration? = nil, by renew: @escaping () -> Duration? = { nil }
    ) -> Ended {
        context.console.flush()
        let file = self.retryAfterPath.map { RetryAfterFile(path: $0) }
        let schedule = CommandProcess.Schedule(
            uptime: { context.uptime }, timeout: self.timeout, firstRenewal: firstRenewal.map { context.uptime + $0 },
            renew: renew)
        let result = CommandProcess.run(self.command, schedule)
        var outcome = CommandOutcome(
            result.status, timedOutAfter: result.isTimedOut ? self.timeout : nil, ignoring: self.ignored)
        if outcome.verdict == .failure, let file {
            switch file.read() {
            case .none: break
            case .outage(let outage): outcome.verdict = outage
            case .unusable(let reason):
                context.console.writeError("\(Tool.name): the command has failed, without an outage: \(reason)\n")
            }
        }
        return Ended(result: result, outcome: outcome)
    }

    /// Reports a command that could not be executed, and returns the exit code.
    ///
    /// Where Ctrl-C has ended the command, this process ends as the command did, and nothing is returned.
    func exit(after ended: Ended, in context: Context) -> ExitCode {
        if case .notExecuted = ended.result.status {
            let word = self.command.first ?? ""
            context.console.writeError("\(Tool.name): \(ended.outcome.error): \(word.quoted)\n")
        } else if ended.result.isTimedOut {
            context.console.writeError("\(Tool.name): the command \(ended.outcome.error), and was ended\n")
        }
        // A shell's script goes on unless its command was ended by the signal that the shell has got, too.
        switch ended.result.controlC {
        case .none: break
        case .reachedThisProcess: bc_end_by_signal(SIGINT, 0)
        case .reachedCommandOnly: bc_end_by_signal(SIGINT, 1)
        }
        return ended.outcome.code
    }
}

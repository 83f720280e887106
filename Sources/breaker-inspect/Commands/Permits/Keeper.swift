import BreakerStore
import CBreakerCommand

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The small process that keeps a probe's slot from `admit` to `finish`.
///
/// It is this program again, but runs C code alone (`bc_keep`). It holds the byte of the worker that `admit` leaves
/// behind, renews the probe's lease each half lease, and ends with the holder, or when `finish` ends it.
final class Keeper {
    /// The word by which the program knows that it is a keeper.
    static let verb = "keep-permit"

    let process: RunningProcess
    private let channel: Int32
    private var isReleased = false

    /// The probe whose slot is kept, and for whom.
    struct Task {
        var circuit: String
        var ticket: CallTicket
        var holder: RunningProcess
        var lease: Duration
        var store: String
    }

    /// Why no keeper could be started.
    enum Failure: Error {
        case holderHasEnded
        case systemError(Int32)
    }

    /// Starts a keeper, which ends at once if this process ends before `release`.
    ///
    /// - Parameter lock: the descriptor of the lock file, of which the keeper gets a copy.
    init(_ task: Task, lock: Int32) throws(Failure) {
        let lease = max(1, Int64((task.lease / .milliseconds(1)).rounded()))
        // In the order of the words in `keeper.h`.
        let words = [
            Tool.name, Self.verb, String(task.ticket.token), String(task.ticket.epoch.rawValue), task.circuit,
            String(task.holder.pid), String(task.holder.start), String(lease), task.store,
        ]
        var channel: Int32 = -1
        let pid = unsafe Self.withCWords(words) { unsafe bc_start_keeper($0, lock, &channel) }
        guard pid > 0 else { throw errno == ESRCH ? .holderHasEnded : .systemError(errno) }
        guard let process = RunningProcess(pid: pid) else {
            bc_abandon_keeper(pid, channel)
            throw .holderHasEnded
        }
        self.process = process
        self.channel = channel
    }

    /// Lets the keeper go on alone.
    func release() {
        guard !self.isReleased else { return }
        self.isReleased = true
        bc_release_keeper(self.channel)
    }

    /// Without `release`, the keeper ends.
    deinit { if !self.isReleased { bc_abandon_keeper(self.process.pid, self.channel) } }

    /// Ends the keeper of a permit; any other process with its pid is left alone.
    ///
    /// - Returns: false if this user may not end it.
    static func end(_ keeper: RunningProcess, token: Int64) -> Bool {
        unsafe bc_end_keeper(keeper.pid, keeper.start, Self.verb, String(token)) != 0
    }

    /// Becomes a keeper, and ends, if the command line says so; returns otherwise.
    static func runIfAsked() {
        // Both are there for as long as the process runs.
        let (count, words) = unsafe (CommandLine.argc, CommandLine.unsafeArgv)
        guard count > 1, let verb = unsafe words[1], unsafe strcmp(verb, Self.verb) == 0 else { return }
        unsafe _exit(bc_keep(count, words))
    }

    private static func withCWords<Value>(
        _ words: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Value
    ) -> Value {
        // Copies that live until the end of this function, and a null pointer behind them.
        var copies = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
        return unsafe body(&copies)
    }
}

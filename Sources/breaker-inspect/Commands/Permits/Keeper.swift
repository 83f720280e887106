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
/// It is this program again, but runs C code alone (`bc_run_keeper`). It holds the byte of the worker that `admit`
/// hands over, renews the probe's lease each half lease, and ends with the holder, or when `finish` ends it.
final class Keeper {
    /// The word by which the program knows that it is a keeper.
    static let verb = "keep-slot"

    let process: RunningProcess
    private let channel: Int32
    private var isReleased = false

    /// The probe whose slot is kept, and for whom.
    struct Job {
        var circuit: String
        var permit: PortablePermit
        var holder: RunningProcess
        var lease: Duration
        var store: String
    }

    /// Why no keeper could be started.
    enum StartError: Error {
        case holderHasEnded
        /// The keeper was started, but can't be seen in /proc.
        case keeperIsNotSeen
        case systemError(Int32)
    }

    /// Starts a keeper, which ends at once if this process ends before `release`.
    ///
    /// - Parameter lock: the descriptor of the lock file, of which the keeper gets a copy.
    init(_ job: Job, lock: Int32) throws(StartError) {
        let lease = max(1, Int64((job.lease / .milliseconds(1)).rounded()))
        // In the order of the words in `keeper.h`.
        let words = [
            Tool.name, Self.verb, String(job.permit.token), String(job.permit.epoch.rawValue), job.circuit,
            String(job.holder.pid), String(job.holder.start), String(lease), job.store,
        ]
        var channel: Int32 = -1
        let (pid, error) = unsafe words.withCStrings { unsafe (bc_start_keeper($0, lock, &channel), errno) }
        guard pid > 0 else { throw error == ESRCH ? .holderHasEnded : .systemError(error) }
        guard let process = RunningProcess(pid: pid) else {
            bc_abandon_keeper(pid, channel)
            throw .keeperIsNotSeen
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

    /// Ends the keeper of a permit, if this user may end it; any other process with its pid is left alone.
    static func end(_ keeper: RunningProcess, token: Int64) {
        unsafe bc_end_keeper(keeper.pid, keeper.start, Self.verb, String(token))
    }

    /// Becomes a keeper, and ends, if the command line says so; returns otherwise.
    static func runIfAsked() {
        // Both are there for as long as the process runs.
        let (count, words) = unsafe (CommandLine.argc, CommandLine.unsafeArgv)
        guard count > 1, let verb = unsafe words[1], unsafe strcmp(verb, Self.verb) == 0 else { return }
        unsafe _exit(bc_run_keeper(count, words))
    }
}

#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerTool
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// `run`: joins this host's files with those of other hosts until a signal ends the program.
struct RunVerb: Verb {
    static let name = "run"
    static let synopsis = "--store PATH…"
    static let summary = "join the circuits of this host's files with those of other hosts, until SIGTERM"
    static let details = """
        Each file counts as a host. Standard error gets a line for each change of
        health, trip and election. The program waits for a file that does not exist
        yet, and for the server: until it answers, this host guards itself.
        """
    static let options: [Option] = [
        .store, .host, .circuits, .minimumHosts, .guardTime, .lease, .noListen,
    ]

    /// How long the program waits for its links to end: the server may not answer, and a supervisor may kill a process
    /// one second after its signal.
    private static let patience = Duration.milliseconds(800)

    private let stores: [LinkedStore]

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        guard arguments.operands.isEmpty else {
            throw .usage("'run' takes no names", hint: "name each file with --store PATH", verb: Self.name)
        }
        let paths = try settings.stores()
        let connection = try settings.connection()
        let log = ServiceLog()
        var stores: [LinkedStore] = []
        for (index, path) in paths.enumerated() {
            let configuration = try settings.configuration(number: paths.count > 1 ? index + 1 : nil)
            stores.append(
                LinkedStore(
                    path: path, name: configuration.host ?? path, connection: connection, configuration: configuration,
                    log: log))
        }
        self.stores = stores
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        // Before there is a second thread, because each thread inherits the signal mask.
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGTERM, SIGINT] { unsafe sigaddset(&signals, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)

        let ended = DispatchSemaphore(value: 0)
        let stores = self.stores
        let task = Task.detached {
            await withTaskGroup(of: Void.self) { group in
                for store in stores { group.addTask { await store.run() } }
            }
            ended.signal()
        }
        // Ready even without a server: this program's task includes waiting for it.
        ServiceManager.send("READY=1")
        var number: Int32 = 0
        while unsafe sigwait(&signals, &number) != 0 {}
        ServiceManager.send("STOPPING=1")
        task.cancel()
        // If the links don't end in time, no host is harmed: each continues alone.
        _ = ended.wait(timeout: .now() + .milliseconds(Int(Self.patience / .milliseconds(1))))
        return number == SIGINT ? .interrupted : .done
    }
}
#endif

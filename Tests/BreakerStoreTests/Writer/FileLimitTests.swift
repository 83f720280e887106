import BreakerTestSupport
import Testing

#if os(Linux)
/// The kernel ends a process that writes beyond its limit of a file's size (setrlimit(2), `ulimit -f`), by SIGXFSZ.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct FileLimitTests {
    /// A worker with the limit, and with the signal as it is by default: the threads of Swift's pool block it, and a
    /// child would inherit that.
    private static func worker(_ place: Workplace, kilobytes: Int) throws -> WorkerProcess {
        let program = """
            import os, resource, signal, sys
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGXFSZ])
            resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
            os.execv(sys.argv[2], sys.argv[2:])
            """
        return try place.worker(through: ["python3", "-c", program, "\(kilobytes << 10)"])
    }

    /// Each circuit trips: in the file, in memory, or with failures in both.
    private static func tripAll(_ worker: WorkerProcess, _ name: String) async throws {
        for number in 0..<150 {
            try await worker.ask("breaker \(name)\(number) failures=3")
            let calls = try await worker.ask("fail \(name)\(number) 20")
            #expect(calls.number("ran") == calls.number("failed"))
            #expect(calls.number("refused") ?? 0 > 0, "\(name)\(number): \(calls)")
        }
    }

    /// With the smaller limits there is no room for the reserve, and the log meets the limit again and again.
    @Test(arguments: [512, 1_024, 1_178, 1_200, 2_048])
    func fallbackGuardsWhereTheLimitIsMet(kilobytes: Int) async throws {
        let place = try Workplace.here
        let worker = try Self.worker(place, kilobytes: kilobytes)
        try await worker.ask("open \(place.store)")
        try await Self.tripAll(worker, "copied")
        // Under the guard nobody copies the log, and it grows.
        let other = try ForeignSetupLock(of: place.store)
        try await Self.tripAll(worker, "stuck")
        let health = try await worker.ask("health").description
        #expect(health.contains("ulimit -f"), "\(health)")
        other.letGo()
        // With the smaller limits the database has no room for what the log holds.
        let raised = try place.start("/usr/bin/env", ["prlimit", "--pid", "\(worker.pid)", "--fsize=unlimited"])
        #expect(await raised.end() == 0)
        while try await worker.ask("health")["health"] != "healthy" { await Task.yield() }
        #expect(await worker.quit() == 0)
    }

    /// The store was made by a process without a limit, and is larger than the limit.
    @Test(arguments: [1, 64, 512])
    func aStoreBeyondTheLimitEndsNoProcess(kilobytes: Int) async throws {
        let place = try Workplace.here
        let other = try await place.openWorker()
        try await other.ask("breakers shop 150 failures=3")
        let worker = try Self.worker(place, kilobytes: kilobytes)
        do {
            try await worker.ask("open \(place.store)")
            try await Self.tripAll(worker, "shop")
        } catch let failure as WorkerProcess.Failure {
            #expect(failure.description.contains("ulimit -f"))
        }
        #expect(await worker.quit() == 0)
    }

    /// Not even the lock file may be written.
    @Test func nothingIsMadeWhereNoFileMayGrow() async throws {
        let place = try Workplace.here
        let worker = try Self.worker(place, kilobytes: 0)
        await #expect(throws: WorkerProcess.Failure.self) { try await worker.ask("open \(place.store)") }
        #expect(await worker.quit() == 0)
    }
}
#endif

import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Three processes: one that is halted, one that goes on, and one that comes later.
final class Trio: Sendable {
    /// A machine that is busy with other things is no violation.
    static let patience = Duration.hangLimit
    /// What was waited for did not come.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    private static let busyTimeout = Duration.milliseconds(250)

    let halted: WorkerProcess
    let other: WorkerProcess
    let late: WorkerProcess
    let clock: SharedClock
    private let stage: Stage
    private let place = Locked((number: 0, what: ""))

    init(_ stage: Stage) throws {
        self.stage = stage
        self.clock = try SharedClock(path: stage.directory + "/clock")
        self.halted = try WorkerProcess(arguments: [self.clock.path])
        self.other = try WorkerProcess(arguments: [self.clock.path])
        self.late = try WorkerProcess(arguments: [self.clock.path])
    }

    func clear() { for process in [self.halted, self.other, self.late] { process.clear() } }

    /// Another store.
    func begin(_ what: String) async throws {
        let number = self.place.withLock {
            $0 = ($0.number + 1, what)
            return $0.number
        }
        guard unsafe mkdir("\(self.stage.directory)/\(number)", 0o700) == 0 else {
            throw SystemError("make a directory")
        }
    }

    func end() async throws {
        self.halted.goOn()
        for process in [self.halted, self.other, self.late] { try await process.ask("close") }
        for problem in SQLiteFile.problems(of: self.path) { self.violated("integrity: \(problem)") }
        Directory.remove("\(self.stage.directory)/\(self.place.withLock { $0.number })")
    }

    var path: String { "\(self.stage.directory)/\(self.place.withLock { $0.number })/a.db" }

    func violated(_ how: String) { self.stage.report.violated("\(self.place.withLock { $0.what }): \(how)") }

    /// The commands that open the store anew; both circuits are known to all from the start.
    var opening: String {
        "close ; open \(self.path) busy=0.25 first-retry=1"
            + " ; breaker counting failures=10000 window=3600 ; breaker tripping failures=2 window=3600"
    }

    func open(_ processes: WorkerProcess...) async throws {
        for process in processes { try await process.ask(self.opening) }
    }

    /// What the library threw in a process that was asked for something; nil if it could be done.
    func refusal(of process: WorkerProcess, _ command: String) async throws -> String? {
        do {
            try await process.ask(command)
            return nil
        } catch let failure as WorkerProcess.Failure {
            guard let code = failure.code else { throw failure }
            return code
        }
    }

    /// Asks the first for something that it halts in; returns what it says in the end.
    func halt(at point: String, asking command: String) async throws -> Task<Reply, any Error> {
        try await self.halted.ask("halt-at \(point)")
        let task = Task { [halted] in try await halted.ask(command) }
        try await self.wait("it is halted at \(point)") { ts_is_halted(self.halted.pid) == 1 }
        return task
    }

    /// Halts the first while it does nothing.
    func haltIdle() async throws {
        self.halted.stop()
        try await self.wait("it is halted") { ts_is_halted(self.halted.pid) == 1 }
    }

    func wait(_ what: String, until isSo: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while try await !isSo() {
            guard ContinuousClock.now < deadline else { throw Missing(description: "waited in vain until \(what)") }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// Lets failing calls happen, each of which must run and come back in time.
    @discardableResult
    func fail(_ process: WorkerProcess, _ circuit: String, _ times: Int, _ how: String = "") async throws -> Reply {
        let answer = try await process.ask("fail \(circuit) \(times) \(how) ; took ; health")
        self.requireInTime(answer)
        if answer.number("ran") != times { self.violated("of \(times) calls: \(answer)") }
        return answer
    }

    func requireInTime(_ answer: Reply) {
        let slowest = Duration.microseconds(answer.number("slowest") ?? 0)
        self.stage.report.raise(Int(slowest / .milliseconds(1)), "ms in the slowest call")
        if slowest > Self.busyTimeout + .milliseconds(50) { self.stage.report.add(1, "calls beyond 300 ms") }
        if slowest > Self.patience { self.violated("a call took \(slowest)") }
    }

    func requireHealthy(_ answer: Reply) {
        if answer["health"] != "healthy" { self.violated("the store is degraded: \(answer)") }
    }

    /// Waits until a process has the file, and sees the circuit so.
    func requireSight(_ process: WorkerProcess, _ circuit: String, state: String, failures: Int) async throws {
        try await self.requireSight(process, circuit, state: state, failures: failures...failures)
    }

    /// The same where the machine decides how many failures there are.
    func requireSight(
        _ process: WorkerProcess, _ circuit: String, state: String, failures: ClosedRange<Int>
    ) async throws {
        var last: Reply?
        do {
            try await self.wait("\(circuit) is \(state) with \(failures) failures") {
                do {
                    let answer = try await process.ask("look \(circuit) ; health")
                    last = answer
                    return answer["health"] == "healthy" && answer["state"] == state
                        && failures.contains(answer.number("failures") ?? -1)
                } catch let failure as WorkerProcess.Failure where failure.code != nil {
                    return false
                }
            }
        } catch {
            self.violated("\(error); it is \(last.map { "\($0)" } ?? "unknown")")
        }
    }

    /// A moment for whatever would come too late and must not come at all: until a later commit of the same process.
    func settle() async throws {
        for process in [self.halted, self.other] {
            try await self.wait("the store is healthy") { try await process.ask("health")["health"] == "healthy" }
        }
    }
}

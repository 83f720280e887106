import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

#if os(Linux)
/// A half-done upgrade: live workers run a release that can't use the file.
///
/// `scripts/upgrade.py` asks the tool beside the workers of a real older release.
@Suite(.timeLimit(.minutes(10)), .ownDirectory) struct OutsideWorkersTests {
    /// Holds a worker's byte, and has a row that says which release it runs.
    static let oldWorker = """
        import fcntl, os, sqlite3, struct, sys
        number = 1 << 40 | os.getpid()
        lock = open(sys.argv[1] + "-lock", "r+b")
        fcntl.fcntl(lock, 37, struct.pack("=hh4xqqi4x", fcntl.F_WRLCK, 0, number, 1, 0))
        store = sqlite3.connect(sys.argv[1], isolation_level=None)
        store.execute("PRAGMA wal_autocheckpoint = 0")
        store.execute(
            "INSERT INTO worker (id, name, pid, version, since) SELECT ?, 'shop-worker', ?, ?, offset FROM clock",
            (number, os.getpid(), sys.argv[2]))
        print("ok", flush=True)
        for line in sys.stdin: print("ok", flush=True)
        """

    private func run(_ arguments: String..., at here: Workplace) -> (code: ExitCode, output: String, talk: String) {
        let console = RecordingConsole()
        let code = breaker_inspect.run(
            arguments: arguments, environment: ["BREAKER_STORE": here.store], console: console, clock: here.clock)
        return (code, console.output, console.talk)
    }

    /// Starts processes that play workers of older releases, and one of this release.
    private func workers(_ releases: String..., in here: Workplace) async throws -> [WorkerProcess] {
        let own = try await here.openWorker()
        try await own.ask("breaker payments failures=100")
        var workers = [own]
        for release in releases {
            let old = try here.start("/usr/bin/python3", ["-c", Self.oldWorker, here.store, release])
            // The answer to the first line is that of the program's start.
            try await old.ask("are you there?")
            workers.append(old)
        }
        return workers
    }

    @Test func areFoundNamedAndCounted() async throws {
        let here = try Workplace.here
        let workers = try await self.workers("0.4.3", "0.4.3", "0.4.3", in: here)
        let pids = workers.dropFirst().map(\.pid).sorted()
        let names = "shop-worker[\(pids.map(String.init).joined(separator: " "))]"

        let doctor = self.run("doctor", at: here)
        #expect(doctor.code == .failed)
        let finding =
            "workers  wrong  3 of 4 workers run a release that cannot use this file (0.4.3): \(names); "
            + "each guards its circuits in memory and obeys no hold or reset\n"
        #expect(doctor.output.contains(finding), "\(doctor.output)")
        #expect(doctor.output.contains("-> restart them with the new release\n"))

        let table = self.run("workers", at: here).output.split(separator: "\n")
        #expect(table.count == 5)
        #expect(table.count { $0.contains("0.4.3") && $0.contains("  outside ") } == 3, "\(table)")
        #expect(table.count { $0.contains(Versions.library) && $0.contains(" -  ") } == 1, "\(table)")

        let notice =
            "3 of 4 workers do not use the file (their release can't (0.4.3)): each guards its circuits in memory, "
            + "obeys no hold or reset, and may refuse calls that are let through here. See 'breaker-inspect doctor'."
        let show = self.run("show", "payments", at: here).output
        #expect(show.contains("their release can't use this file: \(names)\n"), "\(show)")
        #expect(show.contains(notice), "\(show)")
        #expect(self.run("list", at: here).output.hasSuffix("\n\n\(notice)\n"))
        let check = self.run("check", at: here)
        #expect(check.code == .degraded && check.talk == "breaker-inspect: \(notice)\n")

        let page = here.directory + "/report.html"
        #expect(self.run("report", page, at: here).code == .done)
        let report = try String(contentsOfFile: page, encoding: .utf8)
        #expect(report.components(separatedBy: "<td>0.4.3</td>").count == 4)
        #expect(report.contains("<td>\(Versions.library)</td>"))

        let metrics = self.run("metrics", at: here).output
        for line in ["breaker_workers", "breaker_workers_degraded", "breaker_workers_outside"] {
            let count = line == "breaker_workers" ? 4 : 3
            #expect(metrics.contains("\n\(line){store=\"\(here.store)\"} \(count)\n"), "\(metrics)")
        }
        let json = self.run("workers", "--json", at: here).output
        #expect(json.hasPrefix(#"{"degraded":{"count":3,"live":4,"outside":3,"reasons":["newerSchema"],"since":null,"#))
        #expect(json.matches(of: #/"isOutside":true/#).count == 3 && json.matches(of: #/"isOutside":false/#).count == 1)
        #expect(try SchemaTests.schema().complaints(about: json, as: "workers") == [])

        for old in workers.dropFirst() { await old.die() }
        #expect(self.run("doctor", at: here).output.contains("workers  wrong  1 live; ended without"))
        #expect(self.run("check", at: here).code == .done)
    }

    @Test(arguments: [
        ("0.5.1", true), ("0.6.0", false), ("0.6.0-rc1", false), ("0.10.0", false), ("1.0.0", false),
        ("0.1.2", true), ("next", false), ("", false), ("-1.0", false), ("0", false), ("99999999999999999999.1", false),
    ])
    func areReportedByTheirReleases(release: String, isOutside: Bool) async throws {
        let here = try Workplace.here
        let workers = try await self.workers(release, in: here)
        #expect(self.run("workers", at: here).output.contains("outside") == isOutside)
        withExtendedLifetime(workers) {}
    }
}
#endif

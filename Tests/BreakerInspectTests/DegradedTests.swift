import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What the doctor says of live workers that can't use the file.
@Suite(.timeLimit(.minutes(10)), .ownDirectory) struct DegradedTests {
    private func ask(_ arguments: String..., at path: String) throws -> (code: ExitCode, document: [String: Any]) {
        let console = RecordingConsole()
        let code = run(
            arguments: arguments + ["--json"], environment: ["BREAKER_STORE": path], console: console,
            clock: SystemHostClock())
        let document = try JSONSerialization.jsonObject(with: Data(console.output.utf8))
        return (code, document as? [String: Any] ?? [:])
    }

    /// What the doctor finds wrong by one check, once so many workers are degraded.
    private func findings(of check: String = "degraded", _ count: Int, at path: String) async throws -> [String] {
        while true {
            let workers = try self.ask("workers", at: path).document["workers"] as? [[String: Any]] ?? []
            if workers.count(where: { $0["degradedSince"] is String }) == count { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        let (code, document) = try self.ask("doctor", at: path)
        #expect(code == .failed && document["isHealthy"] as? Bool == false)
        return (document["findings"] as? [[String: Any]] ?? [])
            .filter { $0["check"] as? String == check && $0["status"] as? String == "wrong" }
            .map { "\($0["finding"] ?? "") -> \($0["advice"] ?? "")" }
    }

    /// What the doctor says of workers that can't use the file, all for one cause.
    private func sentence(_ workers: [WorkerProcess], because cause: String) throws -> Regex<AnyRegexOutput> {
        let pids = workers.map(\.pid).sorted().map(String.init).joined(separator: " ")
        return try Regex(
            "^\(workers.count) of \(workers.count) workers do not use the file, for \\d+ s, because \(cause): "
                + "breaker-worker\\[\(pids)\\]; each guards its circuits in memory -> ")
    }

    @Test func namesThoseThatCouldNotGetTheLock() async throws {
        let here = try Workplace.here
        let workers = try await here.openWorkers(2, "system-clock busy=0.05")
        try await workers.ask("breaker payments failures=100")
        try await workers.ask("call payments 1")
        let holder = try LockHolder(here.store, ["BEGIN IMMEDIATE"])
        _ = try await workers.ask("fail payments 1")
        let findings = try await self.findings(2, at: here.store)
        let finding = try #require(findings.first)
        #expect(findings.count == 1)
        #expect(try finding.contains(self.sentence(workers, because: "others keep it locked")), "\(finding)")
        #expect(finding.contains(" -> stop what keeps the file locked"), "\(finding)")
        #if os(Linux)
        let writer = try await self.findings(of: "writers", 2, at: here.store)
        #expect(writer.first?.hasPrefix("process \(holder.pid) (python3) keeps all others from writing") == true)
        #endif
        _ = holder.pid
    }

    /// A process that closes its store is no alarm, even one that could not use the file: the alert rules ask for these
    /// numbers.
    @Test func nobodyIsInformedOfAClosedStore() async throws {
        let here = try Workplace.here
        let worker = try await here.openWorkers(1, "system-clock busy=0.05")[0]
        try await worker.ask("breaker payments failures=100")
        try await worker.ask("call payments 1")
        let holder = try LockHolder(here.store, ["BEGIN IMMEDIATE"])
        _ = try await worker.ask("fail payments 1")
        #expect(try await self.findings(1, at: here.store).count == 1)
        func metrics() throws -> String {
            try Child.shell("\"$0\" metrics --store shop=\"$BREAKER_STORE\"", store: here.store).output
        }
        #expect(try metrics().contains("\nbreaker_workers_degraded{store=\"shop\"} 1\n"))
        #expect(await worker.quit() == 0)
        let closed = try metrics()
        for line in ["store_up{store=\"shop\"} 1", "workers{store=\"shop\"} 0", "workers_degraded{store=\"shop\"} 0"] {
            #expect(closed.contains("\nbreaker_\(line)\n"), "\(line)")
        }
        _ = holder.pid
    }

    #if os(Linux)
    /// A transaction that reads keeps the log from beginning anew in the blocks that it has.
    @Test(.enabled(if: geteuid() == 0, "only root may mount a small file system"))
    func namesThoseWhoseDiskIsFull() async throws {
        let here = try Workplace.here
        let directory = "\(here.directory)/disk"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let disk = try SmallDisk(at: directory, megabytes: 6)
        defer { disk.clear() }
        let path = "\(disk.directory)/shop.db"
        let workers = try (0..<6).map { _ in try here.worker() }
        try await workers.ask("open \(path) system-clock")
        try await workers.ask("breaker payments failures=100")
        try await workers.ask("call payments 1")
        while !FileManager.default.fileExists(atPath: path + "-board") { try await Task.sleep(for: .milliseconds(10)) }
        try disk.fill()
        let reader = try LockHolder(path, ["BEGIN", "SELECT * FROM circuit"])
        // Not a page more goes into the log.
        let program = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            try:
                while True: c.execute("UPDATE circuit SET registered = registered + 1")
            except sqlite3.OperationalError as error: assert "full" in str(error)
            """
        #expect(try Child.shell("exec python3 -c '\(program)' \"$BREAKER_STORE\"", store: path).code == 0)
        for worker in workers { await #expect(throws: (any Error).self) { try await worker.ask("hold payments open") } }
        let findings = try await self.findings(6, at: path)
        let finding = try #require(findings.first)
        #expect(findings.count == 1)
        #expect(try finding.contains(self.sentence(workers, because: "the disk is full")), "\(finding)")
        let (_, document) = try self.ask("doctor", at: path)
        let all = document["findings"] as? [[String: Any]] ?? []
        let room = all.first { $0["check"] as? String == "file system" }?["finding"] as? String
        #expect(room == "\(directory) (tmpfs) is full: 0 of 6 MB free; the store's own reserve is used up", "\(all)")
        _ = reader.pid
    }

    /// The disk was full before a board could be made, on which workers tell that they are degraded.
    @Test(.enabled(if: geteuid() == 0, "only root may mount a small file system"))
    func findsAFullDiskWhereNoBoardReports() async throws {
        let here = try Workplace.here
        let directory = "\(here.directory)/disk"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let disk = try SmallDisk(at: directory, megabytes: 6)
        defer { disk.clear() }
        let path = "\(disk.directory)/shop.db"
        let worker = try here.worker()
        try await worker.ask("open \(path) system-clock")
        try disk.fill()
        let (code, document) = try self.ask("doctor", at: path)
        #expect(code == .failed)
        let findings = document["findings"] as? [[String: Any]] ?? []
        let finding = findings.first { $0["check"] as? String == "file system" }?["finding"] as? String
        let lasts =
            "\(directory) (tmpfs) is full: 0 of 6 MB free; services go on only as long as the store's own reserve"
        #expect(finding?.hasPrefix(lasts) == true, "\(findings)")
    }
    #endif
}

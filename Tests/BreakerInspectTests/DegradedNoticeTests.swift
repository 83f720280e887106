import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// While workers can't use the file, each view says that the file is not what counts.
@Suite(.timeLimit(.minutes(10)), .ownDirectory) struct DegradedNoticeTests {
    private typealias Result = (code: ExitCode, output: String, talk: String)

    private func run(
        _ arguments: String..., at path: String, clock: any HostClock = SystemHostClock(),
        on console: RecordingConsole = RecordingConsole()
    ) -> Result {
        let code = breaker_inspect.run(
            arguments: arguments, environment: ["BREAKER_STORE": path], console: console, clock: clock)
        return (code, console.output, console.talk)
    }

    private func json(_ arguments: String..., at path: String) throws -> [String: Any] {
        let console = RecordingConsole()
        _ = breaker_inspect.run(
            arguments: arguments + ["--json"], environment: ["BREAKER_STORE": path], console: console,
            clock: SystemHostClock())
        let document = try JSONSerialization.jsonObject(with: Data(console.output.utf8))
        return try #require(document as? [String: Any])
    }

    private func degraded(at path: String) throws -> [String: Any]? {
        try self.json("list", at: path)["degraded"] as? [String: Any]
    }

    /// Waits until the tool says that so many workers can't use the file.
    private func wait(for count: Int, sinceWhen isNeeded: Bool = false, at path: String) async throws {
        while true {
            let degraded = try self.degraded(at: path)
            // The bytes come first, and then the board, which has since when.
            if degraded?["count"] as? Int ?? 0 == count, !isNeeded || degraded?["since"] is String { return }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Whether a text says that three workers can't use the file.
    private static func hasNotice(_ text: String) -> Bool {
        let rest =
            "each guards its circuits in memory, and may refuse calls that are let through here. See "
            + "'breaker-inspect doctor'."
        let notice = #/(^|: |>|\n)3 of 3 workers do not use the file \(others keep it locked(, for \d+ s)?\): /#
        return text.contains(notice) && text.contains(rest)
    }

    /// Three workers that wait in vain for a lock, which the returned process holds.
    private func lockedOut(
        _ here: Workplace, sinceWhen isNeeded: Bool = true,
        after prepare: (WorkerProcess) async throws -> Void = { _ in }
    ) async throws -> (workers: [WorkerProcess], LockHolder) {
        let workers = try await here.openWorkers(3, "system-clock busy=0.05")
        try await workers.ask("breaker payments failures=100")
        try await workers.ask("breaker mail failures=100")
        try await prepare(workers[0])
        let holder = try LockHolder(here.store, ["BEGIN IMMEDIATE"])
        _ = try await workers.ask("fail payments 1")
        try await self.wait(for: 3, sinceWhen: isNeeded, at: here.store)
        return (workers, holder)
    }

    @Test func eachViewSaysSo() async throws {
        let here = try Workplace.here
        let (workers, holder) = try await self.lockedOut(here)
        let list = self.run("list", at: here.store)
        #expect(list.code == .done && list.output.contains("payments  closed"))
        #expect(list.output.contains("\n\n3 of 3 ") && Self.hasNotice(list.output), "\(list)")
        let show = self.run("show", "payments", at: here.store)
        #expect(Self.hasNotice(show.output), "\(show)")
        let check = self.run("check", at: here.store)
        #expect(check.code == .degraded && check.code.rawValue == 6 && check.output.isEmpty)
        #expect(check.talk.hasPrefix("breaker-inspect: 3 of 3 workers"), "\(check)")
        #expect(Self.hasNotice(check.talk))
        #expect(Self.hasNotice(self.run("wait", "payments", "--for", "closed", at: here.store).talk))
        #expect(Self.hasNotice(self.run("reset", "payments", "--dry-run", at: here.store).talk))
        let page = here.directory + "/page.html"
        #expect(self.run("report", page, at: here.store).code == .done)
        let text = try String(contentsOfFile: page, encoding: .utf8).replacing("&#39;", with: "'")
        #expect(Self.hasNotice(text), "\(text)")
        // A terminal of 80 columns: three lines below the table.
        let narrow = self.run("list", "--color=never", at: here.store, on: RecordingConsole(width: 80))
        #expect(narrow.output.split(separator: "\n").suffix(3).first?.hasPrefix("3 of 3 workers do not") == true)
        for line in narrow.output.split(separator: "\n") { #expect(line.count <= 80) }
        holder.end()
        try await self.wait(for: 0, at: here.store)
        #expect(self.run("check", at: here.store).code == .done)
        #expect(!self.run("list", at: here.store).output.contains("do not use"))
        withExtendedLifetime(workers) {}
    }

    @Test func allJSONSaysSo() async throws {
        let here = try Workplace.here
        let (workers, holder) = try await self.lockedOut(here)
        let documents = try [
            self.json("list", at: here.store), self.json("show", "payments", at: here.store),
            self.json("check", at: here.store), self.json("wait", "payments", "--for", "closed", at: here.store),
            self.json("reset", "payments", "--dry-run", at: here.store), self.json("history", at: here.store),
            self.json("workers", at: here.store), self.json("doctor", at: here.store),
        ]
        for document in documents {
            let degraded = try #require(document["degraded"] as? [String: Any], "\(document)")
            #expect(degraded["count"] as? Int == 3 && degraded["live"] as? Int == 3, "\(degraded)")
            #expect(degraded["outside"] as? Int == 0 && degraded["reasons"] as? [String] == ["busy"])
            #expect(degraded["since"] is String && degraded["sinceMs"] is Int)
        }
        withExtendedLifetime((workers, holder)) {}
    }

    @Test func aCircuitThatRefusesIsWorse() async throws {
        let here = try Workplace.here
        let (workers, holder) = try await self.lockedOut(here) { try await $0.ask("hold mail open") }
        let check = self.run("check", at: here.store)
        #expect(check.code == .notClosed && check.output.hasPrefix("mail  held-open for "), "\(check)")
        #expect(Self.hasNotice(check.talk))
        #expect(self.run("check", "payments", at: here.store).code == .degraded)
        // The report marks it, and no closed circuit.
        let page = here.directory + "/page.html"
        #expect(self.run("report", page, at: here.store).code == .done)
        let text = try String(contentsOfFile: page, encoding: .utf8)
        let mark = "3 of 3 workers may not obey that"
        #expect(text.components(separatedBy: mark).count == 2)
        #expect(text.contains(">held-open</span><br><span class=\"dim\">\(mark)"))
        withExtendedLifetime((workers, holder)) {}
    }

    /// To a file: a line when it begins, and one when it is over.
    @Test func theWatchSaysSo() async throws {
        let here = try Workplace.here
        let workers = try await here.openWorkers(3, "system-clock busy=0.05")
        try await workers.ask("breaker payments failures=100")
        let person = try Watch([], here)
        let script = try Watch(["--json"], here)
        try await person.wait { $0.output.contains("payments  closed") }
        try await script.wait { $0.output.contains("payments") }
        let holder = try LockHolder(here.store, ["BEGIN IMMEDIATE"])
        _ = try await workers.ask("fail payments 1")
        try await person.wait { Self.hasNotice($0.talk) }
        try await script.wait { $0.output.contains(#""event":"degraded","version":1}"#) }
        holder.end()
        try await person.wait { $0.talk.hasSuffix("breaker-inspect: all workers use the file again\n") }
        try await script.wait { $0.output.contains(#"{"degraded":null,"event":"recovered","version":1}"#) }
        let schema = try SchemaTests.schema()
        for line in try script.output.split(separator: "\n") { #expect(schema.complaints(about: String(line)) == []) }
    }

    /// Where no board can be had, the lock file says it all the same; and what a killed worker has locked is free.
    @Test func noBoardIsNeeded() async throws {
        let here = try Workplace.here
        try FileManager.default.createDirectory(atPath: here.store + "-board", withIntermediateDirectories: false)
        let (workers, holder) = try await self.lockedOut(here, sinceWhen: false)
        let list = self.run("list", at: here.store).output
        #expect(list.contains("3 of 3 workers do not use the file (others keep it locked): each guards"), "\(list)")
        let entries = try self.json("workers", at: here.store)["workers"] as? [[String: Any]]
        #expect(entries?.count == 3 && entries?.allSatisfy { $0["degradedSince"] is String } == true)
        await workers[0].die()
        try await self.wait(for: 2, at: here.store)
        #expect(self.run("list", at: here.store).output.contains("2 of 2 workers do not use the file"))
        withExtendedLifetime(holder) {}
    }

    /// It has no row: the file could not be written when it started.
    @Test func aWorkerThatStartedWithoutTheFileIsCounted() async throws {
        let here = try Workplace.here
        let first = try await here.openWorkers(1, "system-clock")
        let holder = try LockHolder(here.store, ["BEGIN IMMEDIATE"])
        let late = try here.worker()
        try await late.ask("open \(here.store) system-clock degrade busy=0.05")
        try await self.wait(for: 1, at: here.store)
        let workers = self.run("workers", at: here.store)
        #expect(workers.output.split(separator: "\n").count == 2 && !workers.output.contains("DEGRADED"), "\(workers)")
        #expect(workers.talk == "1 more process could not use the file from the start: see 'breaker-inspect doctor'\n")
        #expect(self.run("list", at: here.store).output.contains("1 of 2 workers does not use the file"))
        let doctor = self.run("doctor", at: here.store).output
        #expect(doctor.contains("1 of 2 workers does not use the file, because others keep it locked: "), "\(doctor)")
        #if os(Linux)
        #expect(doctor.contains("breaker-worker[\(late.pid)]; it guards"), "\(doctor)")
        #endif
        let metrics = self.run("metrics", at: here.store).output
        #expect(metrics.contains("breaker_workers{store=\"\(here.store)\"} 2\n"))
        #expect(metrics.contains("breaker_workers_degraded{store=\"\(here.store)\"} 1\n"))
        withExtendedLifetime((first, holder)) {}
    }

    /// The file was removed, and its workers can't create another one.
    @Test func aRemovedFileHasWorkers() async throws {
        let here = try Workplace.here
        let home = here.directory + "/home"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        let isRoot = geteuid() == 0
        for directory in [here.directory, home] { unsafe chmod(directory, 0o711) }
        if isRoot { unsafe chown(home, 65_534, 65_534) }
        let path = home + "/circuits.db"
        let worker = try here.worker()
        if isRoot { try await worker.ask("user 65534") }
        try await worker.ask("open \(path) system-clock")
        try await worker.ask("breaker users")
        // Another directory in the place of its own: no test needs to be root to make one.
        unsafe rename(home, home + "-away")
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
        unsafe rename(home + "-away/circuits.db-lock", path + "-lock")
        unsafe chmod(home, 0o555)
        defer { unsafe chmod(home, 0o755) }
        try await worker.ask("fail users")
        while !self.run("list", at: path).talk.contains("live worker") {
            try await Task.sleep(for: .milliseconds(10))
        }
        for verb in ["list", "check", "workers"] {
            let result = self.run(verb, at: path)
            #expect(result.code == .failed)
            let what = ": no such file, but 1 live worker uses it, and guards in memory\n"
            #expect(result.talk.contains(what) && result.talk.contains("hint: they create the file"), "\(result.talk)")
        }
        let doctor = self.run("doctor", at: path).output
        #expect(doctor.contains("wrong  1 live worker uses this path, and guards in memory"), "\(doctor)")
    }
}

/// The tool in a process of its own, which shows the list again and again, into files.
private struct Watch {
    private let path: String

    /// The place ends it.
    init(_ arguments: [String], _ here: Workplace) throws {
        self.path = "\(here.directory)/watch-\(UUID().uuidString)"
        for end in ["out", "err"] { _ = FileManager.default.createFile(atPath: "\(self.path).\(end)", contents: nil) }
        let line = "exec \"$@\" >'\(self.path).out' 2>'\(self.path).err'"
        let tool = [Child.tool.path, "list", "--watch=0.05", "--store", here.store] + arguments
        _ = try here.start("/bin/sh", ["-c", line, "sh"] + tool)
    }

    var output: String { get throws { try String(contentsOfFile: "\(self.path).out", encoding: .utf8) } }
    var talk: String { get throws { try String(contentsOfFile: "\(self.path).err", encoding: .utf8) } }

    func wait(until isSo: ((output: String, talk: String)) throws -> Bool) async throws {
        while try !isSo((self.output, self.talk)) { try await Task.sleep(for: .milliseconds(10)) }
    }
}

import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

@Suite(.timeLimit(.minutes(10))) struct DoctorTests {
    /// Runs the doctor and returns what it says is not well: the check and what it found.
    private func examine(_ path: String, _ clock: any HostClock) -> (code: ExitCode, unwell: [String: String]) {
        let console = RecordingConsole()
        let code = run(
            arguments: ["doctor", "--json"], environment: ["BREAKER_STORE": path], console: console, clock: clock)
        let document = try? JSONSerialization.jsonObject(with: Data(console.output.utf8)) as? [String: Any]
        let findings = document?["findings"] as? [[String: Any]] ?? []
        let unwell = findings.filter { $0["status"] as? String != "ok" && $0["check"] as? String != "SQLite" }
        let pairs = unwell.map {
            ($0["check"] as? String ?? "", "\($0["status"] ?? ""): \($0["finding"] ?? "") \($0["advice"] ?? "")")
        }
        return (code, Dictionary(pairs) { first, _ in first })
    }

    @Test func findsNothingWrong() throws {
        let shop = try Shop()
        try shop.fillWithStates()
        let (code, output, talk) = shop.inspect("doctor")
        #expect(code == .done)
        #expect(talk.isEmpty)
        // What is well stands in one line, behind what is worth knowing.
        let lines = output.split(separator: "\n")
        #expect(lines.last == "nothing is wrong with the store")
        #expect(lines.dropLast().last?.hasPrefix("ok ") ?? false)
        for name in ["file system, permissions", "contents", "log, lock file, board", "workers, probes"] {
            #expect(lines.dropLast().last?.contains(name) ?? false, "\(name): \(output)")
        }
        #expect(!output.contains("wrong  "))
        #expect(shop.inspect("doctor", "x").code == .usage)
        let small = try Shop()
        try small.circuit("a")
        #expect(small.inspect("doctor", "--json").output.contains("finds no damage; 1 circuit can be read"))
    }

    /// The first line is what to act on.
    @Test func whatIsWrongComesFirst() throws {
        let shop = try Shop()
        try shop.circuit("a")
        #expect(unsafe chmod(shop.path + "-shm", 0o644) == 0)
        let output = shop.inspect("doctor").output
        #expect(output.hasPrefix("permissions  wrong  "), "\(output)")
        #expect(output.hasSuffix("\n\n1 problem\n"), "\(output)")
    }

    /// A hold of somebody else, three days old, is easily taken for the truth.
    @Test func aForgottenHoldIsNamed() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.store.hold(shop.circuit("bounded").name, .open, for: .seconds(600_000), by: "ann")
        try shop.store.hold(shop.circuit("short").name, .closed, by: "ann")
        #expect(!shop.inspect("doctor").output.contains("holds"))
        try shop.store.hold(shop.circuit("endless").name, .open, by: "ann", reason: "INC-1")
        #expect(shop.inspect("doctor").output.contains("note   endless is held open by ann for 0 s: INC-1\n"))
        clock.advance(by: .seconds(3 * 86_400))
        let (code, output, _) = shop.inspect("doctor")
        #expect(code == .done)
        #expect(output.contains("bounded is held open by ann for 3 d, until "), "\(output)")
        #expect(output.contains("short is held closed by ann for 3 d"), "\(output)")
        #expect(output.contains("-> 'breaker-inspect release NAME' takes a hold off; 'hold --for' gives it an end\n"))
    }

    /// What is wrong with the files.
    @Test(arguments: [
        ("chmod 0644 \"$BREAKER_STORE-shm\"", "permissions", "who may write the one can't write the other"),
        ("echo x >\"$BREAKER_STORE-lock\"", "lock file", "another program has written into it"),
    ])
    func findsHarmedFiles(line: String, check: String, finding: String) throws {
        let shop = try Shop()
        try shop.circuit("a")
        try #require(try Child.shell(line, store: shop.path).code == 0)
        let (code, unwell) = self.examine(shop.path, shop.clock)
        #expect(code == .failed)
        #expect(unwell[check]?.hasPrefix("wrong: ") == true)
        #expect(unwell[check]?.contains(finding) == true, "\(unwell)")
    }

    /// Live services would make it anew.
    @Test func findsThatTheLockFileIsGone() throws {
        let shop = try Shop()
        shop.store.close()
        try Shop.sqlite(shop.path, "INSERT INTO worker VALUES (4294967299, 'shop', 7, NULL, 0)")
        try FileManager.default.removeItem(atPath: shop.path + "-lock")
        let (code, unwell) = self.examine(shop.path, shop.clock)
        #expect(code == .failed)
        #expect(unwell["lock file"]?.contains("no process can know which of them live") == true, "\(unwell)")
    }

    /// What is wrong within a file that nobody has open.
    @Test(arguments: [
        (
            "UPDATE circuit SET epoch = -2 WHERE name = 'a closed'", "contents",
            "wrong: invalid rows, which no release"
        ),
        (
            "CREATE UNIQUE INDEX mine ON event (id)", "schema",
            "wrong: the file is not used: the index 'mine', which another program has put on a table of the store, may "
                + "refuse rows drop index mine"
        ),
        (
            "ALTER TABLE event ADD COLUMN mine TEXT", "schema",
            "wrong: the file is not used: the table 'event' is not as this library makes it move the file, its -wal and "
                + "-shm away ('breaker-inspect set-aside'); services start a new one"
        ),
        ("PRAGMA user_version = 3001", "schema", "note: 3.1, this tool knows 3.0; both can use it"),
        ("UPDATE clock SET boot = 'another'", "clock", "note: no service has used the store since"),
        (
            "INSERT INTO probe SELECT id, 1, 4294967296, NULL, NULL, since, since + 9 FROM circuit WHERE name = 'b open'",
            "probes",
            "wrong: workers ended during probes of b open"
        ),
        (
            """
            INSERT INTO worker VALUES (4294967299, 'shop', 8, NULL, 0), (4294967300, 'mail', 9, NULL, 0),
            (4294967301, 'shop', 7, NULL, 0)
            """, "workers",
            "wrong: 0 live; ended without closing the store: shop[7 8], mail[9] see why"
        ),
    ])
    func findsWhatIsWrongInTheFile(statement: String, check: String, finding: String) throws {
        let shop = try Shop()
        try shop.fillWithStates()
        shop.store.close()
        try Shop.sqlite(shop.path, statement)
        let (code, unwell) = self.examine(shop.path, shop.clock)
        #expect(code == (finding.hasPrefix("wrong") ? .failed : .done))
        #expect(unwell[check]?.hasPrefix(finding) == true, "\(unwell)")
    }

    @Test func findsDamage() throws {
        let shop = try Shop()
        for number in 0..<200 { try shop.circuit("circuit \(number)") }
        shop.store.close()
        try Shop.sqlite(shop.path, "PRAGMA wal_checkpoint(TRUNCATE);")
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: shop.path))
        for page in 2..<40 {
            try file.seek(toOffset: UInt64(page * 4_096))
            try file.write(contentsOf: Data(repeating: 0xA5, count: 512))
        }
        try file.close()
        let (code, unwell) = self.examine(shop.path, shop.clock)
        #expect(code == .failed)
        #expect(unwell["contents"]?.contains("moves the file aside") == true, "\(unwell)")
    }

    /// Somebody made room: a database that no checkpoint has reached yet has only tables.
    @Test(.ownDirectory, arguments: [true, false]) func findsThatTheLogIsGone(isRemoved: Bool) async throws {
        let here = try Workplace.here
        let worker = try await here.openWorker()
        _ = try await worker.ask("breaker payments failures=1")
        _ = try await worker.ask("hold payments open")
        await worker.die()
        if isRemoved {
            try FileManager.default.removeItem(atPath: here.store + "-wal")
        } else {
            #expect(unsafe truncate(here.store + "-wal", 0) == 0)
        }
        let (code, unwell) = self.examine(here.store, here.clock)
        #expect(code == .failed)
        let lost = "wrong: the log (-wal) is missing or empty, and the database has no clock and no circuits: holds and"
        #expect(unwell["contents"]?.hasPrefix(lost) == true, "\(unwell)")
        // A clock's row that another program has taken away is another matter.
        let shop = try Shop()
        try shop.circuit("a")
        shop.store.close()
        try Shop.sqlite(shop.path, "DELETE FROM clock")
        let other = self.examine(shop.path, shop.clock).unwell
        #expect(other["contents"]?.hasPrefix("wrong: the clock's row is invalid") == true, "\(other)")
    }

    @Test(.ownDirectory) func findsWhatKilledWorkersLeft() async throws {
        let here = try Workplace.here
        let worker = try await here.openWorker()
        _ = try await worker.ask("breaker payments failures=1 recovery=1")
        _ = try await worker.ask("fail payments")
        here.clock.advance(by: .seconds(2))
        _ = try await worker.ask("admit payments")
        #expect(self.examine(here.store, here.clock).code == .done)
        await worker.die()
        let (code, unwell) = self.examine(here.store, here.clock)
        #expect(code == .failed)
        #expect(unwell["workers"]?.contains("breaker-worker[\(worker.pid)]") == true, "\(unwell)")
        #expect(unwell["probes"]?.contains("workers ended during probes of payments") == true)
    }

    @Test(.ownDirectory) func findsAClockThatWasSteppedAndAnotherHost() async throws {
        let here = try Workplace.here
        _ = try await here.openWorker()
        here.clock.stepWallTime(by: .seconds(7_200))
        let (code, unwell) = self.examine(here.store, here.clock)
        #expect(code == .done)
        #expect(unwell["clock"]?.hasPrefix("note: store time is 2 h behind the wall clock") == true, "\(unwell)")
        // Another kernel, as its boot tells.
        let other = self.examine(here.store, ManualHostClock())
        #expect(other.code == .failed)
        #expect(other.unwell["clock"]?.hasPrefix("wrong: another host or virtual machine has the store open") == true)
    }

    @Test func judgesWhatNoTestCanMake() throws {
        let shop = try Shop()
        var facts = try StoreFiles(path: shop.path)
        var examination = try facts.examine(shop.clock)
        #expect(FileChecks(facts: facts).log(examination).status == .ok)
        examination.pendingFrames = FileChecks.longLog
        #expect(FileChecks(facts: facts).log(examination).status == .wrong)
        facts.log = nil
        #expect(FileChecks(facts: facts).log(examination).finding.contains("it was removed"))
        facts.unsuitableFileSystem = "NFS"
        #expect(FileChecks(facts: facts).fileSystem(isReserveUsedUp: false).finding.contains("on a NFS file system"))
        facts.lock = nil
        examination.living = []
        #expect(FileChecks(facts: facts).lockFile(examination).status == .note)
        #expect(FileChecks(facts: facts).log(examination).status == .ok)
    }
}

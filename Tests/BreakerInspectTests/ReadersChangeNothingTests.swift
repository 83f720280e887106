import BreakerTestSupport
import BreakerTool
import CTestSupport
import Foundation
import Synchronization
import Testing

@testable import BreakerStore
@testable import breaker_inspect

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The verbs that only look change nothing, and need no right to change anything.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ReadersChangeNothingTests {
    /// Each line, and the code that it ends with on a shop of all states.
    static let looks: [(line: String, code: Int32)] = [
        ("list", 0), ("list --json", 0), ("list 'a*' --state open", 0), ("list --watch=0.01", 0),
        ("list --watch=0.01 --json", 0), ("show 'b open'", 0), ("show 'b open' --json", 0), ("check", 3),
        ("check 'a*'", 0), ("wait 'b open' --for open", 0), ("wait 'b open' --for closed --timeout 20ms", 124),
        ("history", 0), ("history --follow", 0), ("history 'b open' --follow --json", 0), ("workers", 0),
        ("doctor", 0), ("doctor --json", 0), ("metrics", 0), ("report /dev/null/x", 1), ("reset --all --dry-run", 0),
        ("reset --all", 64),
        ("release --all --dry-run", 0), ("hold open --all --dry-run", 0), ("show nobody", 4),
    ]

    enum Condition: String, CaseIterable {
        case open
        case closed
        /// Closed, and somebody has removed the wal-index.
        case withoutIndex
        /// Closed, and copied into the database alone.
        case withoutLog
    }

    private func shop(_ condition: Condition) throws -> Shop {
        let shop = try Shop(clock: SystemHostClock())
        try shop.fillWithStates()
        if condition != .open { shop.store.close() }
        switch condition {
        case .open, .closed: break
        case .withoutIndex: try FileManager.default.removeItem(atPath: shop.path + "-shm")
        case .withoutLog: try Shop.sqlite(shop.path, "PRAGMA wal_checkpoint(TRUNCATE);")
        }
        return shop
    }

    /// Other processes read the bytes: to open and close the files in this one would drop its locks.
    ///
    /// An open store itself reads and publishes counts just after its opening, which changes the wal-index and the
    /// board; the search for long texts is the last of these reads.
    @Test(arguments: Condition.allCases)
    func changesNothingOnTheDisk(condition: Condition) async throws {
        let shop = try self.shop(condition)
        if condition == .open {
            let core = try #require(shop.store.backend.core)
            while core.longTexts.load(ordering: .relaxed) != .done { try await Task.sleep(for: .milliseconds(10)) }
        }
        let sums = "cd \(shop.directory.path) && cksum * && stat -c '%n %i %s %Y' ."
        let before = try Child.shell(sums, store: shop.path).output
        for look in Self.looks {
            let line = "{ \"$0\" \(look.line); echo code $? >&2; } | head -n 1 >/dev/null; \(sums)"
            let result = try Child.shell(line, store: shop.path)
            #expect(result.talk.hasSuffix("code \(look.code)\n"), "\(look.line): \(result.talk)")
            // What goes on for ever ends when its reader does, without a word, though nothing more is written.
            let isEndless = look.line.contains("--watch") || look.line.contains("--follow")
            #expect(!isEndless || result.talk == "code 0\n", "\(look.line): \(result.talk)")
            #expect(result.output == before, "\(look.line)")
        }
    }

    /// Root may do anything: a child gives its rights away.
    private static func becomeNobody() {
        guard geteuid() == 0 else { return }
        var none: [gid_t] = []
        unsafe setgroups(0, &none)
        setgid(65_534)
        setuid(65_534)
    }

    private static func run(_ line: String, _ path: String) -> (code: Int32, output: String, talk: String) {
        var words: [String] = []
        for (index, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
            words += index.isMultiple(of: 2) ? part.split(separator: " ").map { String($0) } : [String(part)]
        }
        let console = RecordingConsole()
        let isWaiting = line.hasPrefix("wait")
        console.inFurtherPauses = { isWaiting ? .isOver : .nobodyReads }
        let code = breaker_inspect.run(
            arguments: words, environment: ["BREAKER_STORE": path], console: console, clock: SystemHostClock())
        return (code.rawValue, console.output, console.talk)
    }

    @Test(arguments: Condition.allCases)
    func needsNoRightToWrite(condition: Condition) async throws {
        let shop = try self.shop(condition)
        for ending in ["", "-wal", "-shm", "-lock", "-board"] { unsafe chmod(shop.path + ending, 0o444) }
        unsafe chmod(shop.directory.path, 0o555)
        defer { unsafe chmod(shop.directory.path, 0o755) }
        let (path, isOpen) = (shop.path, condition == .open)
        await #expect(processExitsWith: .success) { [path = path as String, isOpen = isOpen as Bool] in
            ReadersChangeNothingTests.becomeNobody()
            for look in ReadersChangeNothingTests.looks {
                let result = ReadersChangeNothingTests.run(look.line, path)
                #expect(result.code == look.code, "\(look.line): \(result.output)\(result.talk)")
            }
            // Who lives is seen without the right to lock.
            #expect(ReadersChangeNothingTests.run("workers", path).output.isEmpty != isOpen)
            let reset = ReadersChangeNothingTests.run("reset 'b open'", path)
            #expect(reset.code == 1)
            #expect(reset.talk.contains("Permission denied") && reset.talk.contains("\nhint: "))
            #expect(ReadersChangeNothingTests.run("doctor", path).output.contains("this user may look, but not reset"))
        }
    }

    @Test func saysThatItMayNotRead() async throws {
        let shop = try self.shop(.open)
        unsafe chmod(shop.directory.path, 0o755)
        await #expect(processExitsWith: .success) { [path = shop.path as String] in
            ReadersChangeNothingTests.becomeNobody()
            for look in ReadersChangeNothingTests.looks where !look.line.hasPrefix("doctor") {
                let result = ReadersChangeNothingTests.run(look.line, path)
                #expect(result.code == 1, "\(look.line)")
                // The others have nothing to tell.
                #expect(result.output.isEmpty == (look.line != "metrics"))
                let talk = result.talk.split(separator: "\n")
                #expect(talk.count == 2)
                #expect(talk.first == "breaker-inspect: cannot read '\(path)': Permission denied", "\(look.line)")
            }
            let doctor = ReadersChangeNothingTests.run("doctor", path)
            #expect(doctor.code == 1)
            // One finding for all files.
            #expect(
                doctor.output.contains("this user can't read '\(path)' and 4 files beside it, which is 0600 of user"))
            #expect(doctor.output.hasSuffix("\n\n1 problem\n"), "\(doctor.output)")
        }
    }
}

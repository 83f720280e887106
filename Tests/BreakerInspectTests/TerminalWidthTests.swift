import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What the built tool writes on terminals of several widths.
@Suite(.serialized, .timeLimit(.minutes(10)), .ownDirectory) struct TerminalWidthTests {
    private static let words = String(repeating: "a reason of very many words, ", count: 8)
    /// A name that fits beside few columns, and one that fits no terminal of 80 columns.
    private static let name = "payments/checkout-of-the-shop-eu-central-1"
    private static let wideName = "payments/" + String(repeating: "eu-central-1/", count: 6) + "checkout"

    /// Commands that write tables, of which a terminal shows what it has room for.
    private static let tables = [
        "list", "list --all", "list '*shop*'", "history", "history \(Self.name)", "show \(Self.name)",
        "show \(Self.wideName)", "workers", "list --color=always",
    ]
    /// Commands whose text is the same on each terminal.
    private static let texts =
        [
            "check", "check --refusing", "check none", "wait \(Self.name) --for closed --timeout 0.01s",
            "reset --all --dry-run", "hold open --all --as carl --dry-run", "release '*' --dry-run",
            "release mail", "doctor", "show nnone", "show \(Self.wideName)x", "list --state none", "status",
            "frobnicate",
            "list --nonsense", "finish nonsense success",
            "run held", "set-aside --dry-run", "report", "report none/none/none/none/none/report.html",
            "list --store none/none/none/none/none/none/none/none.db", "doctor --store none/none/none.db",
            "reset mail --color=always --dry-run", "help", "--version", "",
        ] + Tool.verbs.map { "help \($0.name)" }

    /// Makes a store with long texts.
    private func fill(_ path: String) throws {
        var calls = CallPolicy()
        calls.describe = { _ in Self.words }
        let store = try CircuitStore(path: path)
        defer { store.close() }
        func breaker(_ name: String) throws -> CircuitBreaker {
            let config = CircuitBreaker.Config(
                name: name, recoveryTimeout: .seconds(3_600), maxFailures: 1, rollingWindow: .seconds(60))
            return try store.breaker(config, calls: calls)
        }
        for name in [Self.name, Self.wideName] { try breaker(name).recordFailure(Boom()) }
        for number in 0..<30 { _ = try breaker("closed \(number)") }
        for name in ["held", "mail", "held-in-the-shop/\(Self.wideName)"] {
            _ = try breaker(name)
            try store.hold(name, .open, by: "an-operator", reason: Self.words)
        }
    }

    /// Makes a store with long texts, and waits until a worker of it is degraded.
    private func degradedStore(_ here: Workplace) async throws -> LockHolder {
        try self.fill(here.store)
        let worker = try await here.openWorkers(1, "system-clock busy=0.05")[0]
        try await worker.ask("breaker users failures=100")
        let holder = try LockHolder(here.store, ["BEGIN IMMEDIATE"])
        try await worker.ask("fail users 1")
        while try !Child.shell("\"$0\" check", store: here.store).talk.contains("does not use the file") {
            try await Task.sleep(for: .milliseconds(10))
        }
        return holder
    }

    /// A shell's line that runs the tool beside the store, so that no path is long.
    private func line(_ arguments: String, in directory: String) -> String {
        "cd '\(directory)' && BREAKER_STORE=circuits.db exec \"$0\" \(arguments) </dev/null"
    }

    /// The lines that are wider than the terminal, but for those with a single word.
    private func tooWide(_ text: String, _ columns: Int) -> [String] {
        text.split(separator: "\n").map { String($0) }.filter {
            $0.displayWidth > columns && $0.trimmingCharacters(in: .whitespaces).contains(" ")
        }
    }

    /// The words of a text; of times and numbers only that they are there.
    private func words(_ text: String) -> String {
        let plain = text.replacing(#/\u{1B}\[[0-9;]*m/#, with: "")
        let words = plain.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.replacing(#/[0-9.]+( (ms|s|min|h)\b)?/#, with: "0")
    }

    private func expectLinesThatFit(_ arguments: String, hasSameText: Bool, _ columns: Int, _ here: Workplace) throws {
        let line = self.line(arguments, in: here.directory)
        let shown = try Child.terminal(line, store: here.store, columns: columns)
        #expect(!shown.output.isEmpty, "\(arguments)")
        #expect(self.tooWide(shown.output, columns) == [], "\(arguments)")
        guard hasSameText else { return }
        let plain = try Child.shell("exec 2>&1; \(line)", store: here.store)
        #expect(self.words(shown.output) == self.words(plain.output), "\(arguments)")
        #expect(shown.code == plain.code, "\(arguments)")
    }

    @Test(arguments: [60, 80, 200]) func noLineIsWider(columns: Int) async throws {
        let here = try Workplace.here
        let holder = try await self.degradedStore(here)
        for arguments in Self.tables { try self.expectLinesThatFit(arguments, hasSameText: false, columns, here) }
        // A name is whole on each terminal: people copy it into commands.
        let list = try Child.terminal(self.line("list", in: here.directory), store: here.store, columns: columns)
        for name in [Self.name, Self.wideName] { #expect(list.output.contains(name), "\(list)") }
        for arguments in Self.texts { try self.expectLinesThatFit(arguments, hasSameText: true, columns, here) }
        withExtendedLifetime(holder) {}
    }

    @Test(arguments: [60, 80, 200]) func questionsAndRefusalsAreWrapped(columns: Int) async throws {
        let here = try Workplace.here
        try await self.degradedStore(here).end()
        for arguments in ["probe held", "forget users", "admit held", "run held -- true", "reset mail </dev/null"] {
            try self.expectLinesThatFit(arguments, hasSameText: true, columns, here)
        }
        for arguments in ["reset --all --as carl", "reset mail --as carl", "forget '*held*' --as carl"] {
            let shown = try Child.terminal(
                "\"$0\" \(arguments)", store: here.store, columns: columns, prompt: "[y/N] ",
                reaction: { $0.type("n\n") })
            #expect(shown.code == 2 && shown.output.hasSuffix("nothing was changed\n"), "\(shown)")
            #expect(self.tooWide(shown.output, columns) == [], "\(arguments)")
        }
    }

    /// Scripts search lines of the output, and people those of a log.
    @Test func withoutATerminalNoLineIsWrapped() throws {
        let here = try Workplace.here
        try self.fill(here.store)
        let log = here.directory + "/log"
        let check = "\"$0\" check --refusing held"
        let shown = try Child.terminal(check, store: here.store, columns: 60)
        #expect(shown.output.split(separator: "\n").count > 3)
        let piped = try Child.terminal("\(check) | cat", store: here.store, columns: 60)
        #expect(piped.output.split(separator: "\n").count == 1 && piped.output.contains(Self.words.dropLast()))
        // Each stream by itself: the output's terminal is none of the messages.
        let error = "\"$0\" show a-circuit-whose-name-is-rather-long-and-whose-name-nobody-knows"
        _ = try Child.terminal("\(error) 2>'\(log)'", store: here.store, columns: 60)
        #expect(try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count == 2)
        let talk = try Child.terminal("\(error) | cat", store: here.store, columns: 60)
        #expect(talk.output.split(separator: "\n").count == 3, "\(talk)")
    }
}

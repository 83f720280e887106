import BreakerStore
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

/// The built tool that goes on until somebody ends it.
@Suite(.serialized, .timeLimit(.minutes(10))) struct TerminalTests {
    private static let entered = "\u{1B}[?1049h\u{1B}[?25l"
    private static let left = "\u{1B}[?25h\u{1B}[?1049l"

    private func shop() throws -> Shop {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("payments", failures: 2, error: String(repeating: "long ", count: 50))
        return shop
    }

    /// Ctrl-C, and what a system that shuts down sends.
    @Test(arguments: ["\u{3}", "TERM"])
    func givesTheScreenBack(end: String) throws {
        let shop = try self.shop()
        let terminal = try Terminal("exec \"$0\" list --watch=0.05", store: shop.path)
        try terminal.read(until: "payments")
        if end == "TERM" { kill(terminal.pid, SIGTERM) } else { terminal.type(end) }
        let code = try terminal.end()
        #expect(code == (end == "TERM" ? -SIGTERM : 130))
        #expect(terminal.shown.hasPrefix(Self.entered))
        // The terminal itself shows ^C.
        let shown = terminal.shown
        #expect(shown.hasSuffix(Self.left))
        #expect(shown.components(separatedBy: Self.left).count == 2)
    }

    @Test func redrawsAChangeAndANewSize() throws {
        let shop = try self.shop()
        let terminal = try Terminal("exec \"$0\" list --watch=0.05 --color=never", store: shop.path)
        try terminal.read(until: "…")
        try shop.store.reset("payments")
        try terminal.read(until: "closed")
        try shop.store.hold("payments", .open)
        try terminal.read(until: "held-open")
        terminal.resize(columns: 60, rows: 10)
        try terminal.read(until: "\u{1B}[2J")
        terminal.type("\u{3}")
        #expect(try terminal.end() == 130)
    }

    /// A signal that comes when no pause is under way is seen by the next.
    @Test(arguments: [SIGWINCH, SIGCONT])
    func missesNoDisturbance(signal: Int32) async {
        await #expect(processExitsWith: .success) { [signal = signal as Int32] in
            Screen.handleSignals()
            let console = ProcessConsole()
            #expect(console.pause(for: .milliseconds(1), listening: true) == .isOver)
            kill(getpid(), signal)
            #expect(console.pause(for: .seconds(10), listening: true) == .disturbed)
            #expect(console.pause(for: .milliseconds(1), listening: true) == .isOver)
        }
    }

    @Test func givesTheScreenBackWhileItIsStopped() throws {
        let shop = try self.shop()
        // The shell that started it takes the terminal.
        let terminal = try Terminal("set -m; \"$0\" list --watch=0.05; echo stopped; fg", store: shop.path)
        try terminal.read(until: "payments")
        terminal.type("\u{1A}")
        try terminal.read(until: "stopped")
        #expect(terminal.shown.contains(Self.left))
        try terminal.read(until: Self.entered)
        try terminal.read(until: "payments")
        terminal.type("\u{3}")
        #expect(try terminal.end() == 130)
        #expect(terminal.shown.contains(/\u{1B}\[\?1049l[^\u{1B}]*$/))
    }

    @Test func waitingCanBeInterrupted() throws {
        let shop = try self.shop()
        for line in ["wait payments --for closed", "history --follow"] {
            let terminal = try Terminal("echo ready; exec \"$0\" \(line)", store: shop.path)
            try terminal.read(until: line.hasPrefix("wait") ? "ready" : "tripped")
            terminal.type("\u{3}")
            let code = try terminal.end()
            // Ctrl-C that comes before the tool has begun is no business of the tool.
            #expect(code == 130 || code == -SIGINT && line.hasPrefix("wait"), "\(line): \(terminal.shown)")
        }
    }

    @Test func waitsForAnotherProcess() throws {
        let shop = try self.shop()
        let line = "\"$0\" wait payments --for held & \"$0\" hold open payments >/dev/null; wait $!; echo code $?"
        #expect(try Child.shell(line, store: shop.path).output == "payments  held-open\ncode 0\n")
    }

    #if os(Linux)
    /// The kernel counts what a process reads; what it maps is not counted, nor what it asks of a path.
    @Test(arguments: ["list --watch=0.01", "wait payments --for closed", "history --follow"])
    func readsNothingWhileNothingChanges(line: String) async throws {
        let shop = try self.shop()
        let terminal = try Terminal("exec \"$0\" \(line) >/dev/null", store: shop.path)
        func count(_ file: String, _ key: String) -> Int {
            let text = (try? String(contentsOfFile: "/proc/\(terminal.pid)/\(file)", encoding: .utf8)) ?? ""
            let field = text.split(separator: "\n").first { $0.hasPrefix(key) }
            return field?.split(whereSeparator: \.isWhitespace).last.flatMap { Int($0) } ?? 0
        }
        // Each pause lets the processor go; the first few may be those of the start.
        func pass(_ pauses: Int) async throws {
            let key = "voluntary_ctxt_switches"
            let start = count("status", key)
            while count("status", key) < start + pauses { try await Task.sleep(for: .milliseconds(5)) }
        }
        while !((try? String(contentsOfFile: "/proc/\(terminal.pid)/comm", encoding: .utf8)) ?? "").hasPrefix("breaker")
        {
            try await Task.sleep(for: .milliseconds(5))
        }
        try await pass(10)
        var before = count("io", "syscr")
        try await pass(8)
        if count("io", "syscr") != before {
            // The store tells the file once, within a second, how many calls it has counted.
            before = count("io", "syscr")
            try await pass(8)
        }
        #expect(count("io", "syscr") == before)
        #expect(before > 0)
        try await shop.store.reset("payments")
        if line.hasPrefix("wait") {
            #expect(try terminal.end() == 0)
        } else {
            while count("io", "syscr") == before { try await Task.sleep(for: .milliseconds(5)) }
        }
    }
    #endif
}

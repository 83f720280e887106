import BreakerStore
import BreakerTestSupport
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

/// `run` with signals, time limits and terminals.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RunSignalTests {
    private func shop() throws -> Shop { try Shop(clock: SystemHostClock()) }

    /// A command that ends with 5 at a signal, after it has said that it is ready.
    @Test(arguments: ["TERM", "HUP", "USR1", "USR2", "ALRM"])
    func passesSignalsOn(signal: String) throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let line = """
            "$0" run a -- sh -c 'trap "exit 5" \(signal); : >"$BREAKER_STORE.runs"; while :; do sleep 0.02; done' &
            \(Child.until(#"[ -e "$BREAKER_STORE.runs" ]"#)); kill -\(signal) $!; wait $!
            """
        #expect(try Child.shell(line, store: shop.path).code == 5)
    }

    /// The limit is for all processes of the command's group, also for one that waits for none of the signals.
    @Test(arguments: ["", "trap '' TERM;"]) func aTimeoutEndsTheGroup(trap: String) throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a")
        let script = "sh -c \"\(trap) echo \\$\\$ >\\\"\\$BREAKER_STORE.pid\\\"; while :; do sleep 0.1; done\" & wait"
        let line = """
            "$0" run a --timeout 500ms -- sh -c '\(script.replacing("'", with: "'\\''"))'; code=$?
            test -s "$BREAKER_STORE.pid" || echo none
            kill -0 "$(cat "$BREAKER_STORE.pid")" 2>/dev/null && echo lives; exit $code
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.code == 124)
        #expect(result.output.isEmpty)
        #expect(breaker.failureCount == 1)
        #expect(try shop.store.circuit(named: "a")?.lastError == "took longer than 500 ms")
    }

    /// Ctrl-C reaches the command alone, and then the script that has called `run`.
    @Test func controlCEndsTheScriptToo() throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a")
        let terminal = try Terminal(
            "\"$0\" run a -- sh -c 'echo ready; exec sleep 3600'; echo after", store: shop.path)
        try terminal.read(until: "ready")
        terminal.type("\u{3}")
        #expect(try terminal.end() != 0)
        #expect(!terminal.shown.contains("after"))
        #expect(breaker.failureCount == 0)
        #expect(breaker.totals.ignored == 1)
    }

    /// In a pipeline the terminal belongs to all of its programs.
    @Test func sharesTheTerminalWithAPipeline() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let terminal = try Terminal(
            "\"$0\" run a -- sh -c 'echo one; echo two' | { read x; read y </dev/tty; echo \"$x $y\"; }",
            store: shop.path)
        terminal.type("typed\r")
        try terminal.read(until: "one typed")
        #expect(try terminal.end() == 0)
    }

    /// The command has the terminal's foreground, and both it and `run` stop and go on as the shell says.
    @Test func stopsAndGoesOn() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let terminal = try Terminal("TOOL=$0 PS1='READY ' exec bash --norc --noprofile -i", store: shop.path)
        try terminal.read(until: "READY ")
        terminal.type("$TOOL run a -- sh -c 'echo be''gun; read x; echo got-$x; exit 7'; echo code-$?\r")
        try terminal.read(until: "begun")
        terminal.type("\u{1A}")
        try terminal.read(until: "READY ")
        terminal.type("fg\r")
        // bash repeats the command's line after it has taken its own settings off the terminal.
        try terminal.read(until: "exit 7'\r\n")
        terminal.type("word\r")
        try terminal.read(until: "got-word")
        try terminal.read(until: "READY ")
        terminal.type("echo last-$?; exit\r")
        try terminal.read(until: "last-7")
        _ = try terminal.end()
    }
}

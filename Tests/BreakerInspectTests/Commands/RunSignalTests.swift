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

    /// A bash with job control, whose prompt is shown.
    private func bash(_ shop: Shop) throws -> Terminal {
        let terminal = try Terminal("TOOL=$0 PS1='READY ' exec bash --norc --noprofile -i", store: shop.path)
        try terminal.read(until: "READY ")
        return terminal
    }

    /// Brings the stopped job to the front, where its command reads a line and ends with 7.
    private func goesOnInFront(_ terminal: Terminal) throws {
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

    /// The command has the terminal's foreground, and both it and `run` stop and go on as the shell says.
    @Test func stopsAndGoesOn() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let terminal = try self.bash(shop)
        terminal.type("$TOOL run a -- sh -c 'echo be''gun; read x; echo got-$x; exit 7'; echo code-$?\r")
        try terminal.read(until: "begun")
        terminal.type("\u{1A}")
        try terminal.read(until: "READY ")
        try self.goesOnInFront(terminal)
    }

    /// A job of the background that reads from the terminal is stopped, and gets the terminal with `fg`.
    @Test func aJobOfTheBackgroundComesToTheFront() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let terminal = try self.bash(shop)
        terminal.type("$TOOL run a -- sh -c 'read x; echo got-$x; exit 7' &\r")
        terminal.type("until jobs | grep -q Stopped; do sleep 0.02; done; echo is-stop''ped\r")
        try terminal.read(until: "is-stopped")
        try terminal.read(until: "READY ")
        try self.goesOnInFront(terminal)
    }

    /// The kernel stops no group that no shell watches: its command gets SIGHUP, as from the kernel.
    @Test func aJobThatNoShellWatchesGetsNoTerminal() throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a")
        let terminal = try Terminal(
            """
            perl -e 'exit if fork; setpgrp(0, 0); exit if fork; exec @ARGV' "$0" run a -- sh -c 'read x </dev/tty'
            \(Child.until("\"$0\" show a | grep -q 'killed by signal 1$'")); echo it-"ended"
            """, store: shop.path)
        try terminal.read(until: "it-ended")
        #expect(try terminal.end() == 0)
        #expect(breaker.failureCount == 1)
    }

    /// The signals with which daemons start their children, before and behind `run`.
    @Test(arguments: [
        "$SIG{CHLD} = \"IGNORE\"", "sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGCHLD))",
        "my $all = POSIX::SigSet->new; $all->fillset; sigprocmask(SIG_BLOCK, $all)",
    ])
    func endsWithTheCommand(signals: String) throws {
        let shop = try self.shop()
        let breaker = try shop.store.breaker(.init(name: "a", trip: .failures(1_000, within: .seconds(600))))
        let line = """
            for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
                perl -MPOSIX -e '\(signals); exec @ARGV' "$0" run a -- sh -c 'exit 3'
                test $? = 3 || echo wrong
            done
            """
        #expect(try Child.shell(line, store: shop.path).output.isEmpty)
        #expect(breaker.failureCount == 20)
    }

    /// Supervisors that wait for signals (sigwait) may start their children with blocked ones.
    @Test func passesOnWhatWasBlocked() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let line = """
            perl -MPOSIX -e 'sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGTERM)); exec @ARGV' "$0" run a -- \
                perl -MPOSIX -e 'sigprocmask(SIG_SETMASK, POSIX::SigSet->new); open F, ">$ENV{BREAKER_STORE}.runs"; sleep 3600' &
            until [ -e "$BREAKER_STORE.runs" ]; do sleep 0.02; done; kill -TERM $!; wait $!
            """
        #expect(try Child.shell(line, store: shop.path).code == 143)
    }

    /// A timer's signal comes from the kernel, as those of the terminal do.
    @Test func passesATimersSignalOn() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let terminal = try Terminal(
            "perl -e 'alarm 1; exec @ARGV' \"$0\" run a -- sleep 3600 >/dev/null; echo code-$?", store: shop.path)
        try terminal.read(until: "code-142")
        #expect(try terminal.end() == 0)
    }

    /// Also for a process whose parent has ended before the limit.
    @Test func aTimeoutEndsOrphansOfTheGroup() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let line = """
            "$0" run a --timeout 500ms -- sh -c '(sh -c "trap \"\" TERM; echo \\$\\$ >\"$BREAKER_STORE.pid\"; while :; do sleep 0.1; done" &); sleep 3600'
            echo $?; test -s "$BREAKER_STORE.pid" && ! kill -0 "$(cat "$BREAKER_STORE.pid")" 2>/dev/null && echo ended
            """
        #expect(try Child.shell(line, store: shop.path).output == "124\nended\n")
    }
}

import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// The built tool in processes of its own.
@Suite(.serialized, .timeLimit(.minutes(10))) struct ProcessTests {
    @Test func saysThatItsOutputHasNoRoom() throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a", failures: 2)
        let result = try Child.shell("\"$0\" list >/dev/full", store: shop.path)
        #expect(result.code == 1)
        #expect(result.talk == "breaker-inspect: cannot write the output: No space left on device\n")
    }

    /// The index of the names has a key of 40 MB, which SQLite would read to find another name.
    @Test func takesNoMemoryForAHugeName() throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        try shop.circuit("b")
        shop.store.close()
        let name = "'a' || hex(zeroblob(20000000))"
        try Shop.sqlite(
            shop.path, "PRAGMA ignore_check_constraints = ON; UPDATE circuit SET name = \(name) WHERE name = 'a'")
        let result = try Child.shell("\"$0\" show b", store: shop.path)
        #expect(result.code == 1)
        #expect(result.talk.contains("out of memory"), "\(result.talk)")
    }

    /// No verb that needs the index can be of use, and no row looks wrong.
    @Test func doctorFindsAHugeKey() throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a", failures: 2)
        shop.store.close()
        let key = "'a' || hex(zeroblob(20000000))"
        try Shop.sqlite(shop.path, "UPDATE event SET circuit = \(key) WHERE id = (SELECT max(id) FROM event)")
        let result = try Child.shell("\"$0\" doctor", store: shop.path)
        #expect(result.code == 1)
        #expect(result.output.contains("a key is longer than any row may be"), "\(result.output)\(result.talk)")
    }

    @Test func aServiceObeysAtItsNextCall() throws {
        let shop = try Shop(clock: SystemHostClock())
        let breaker = try shop.circuit("a", failures: 2)
        #expect(!breaker.isCallPermitted)
        let result = try Child.shell("\"$0\" reset a --as ann --reason 'all well'", store: shop.path)
        #expect(result.output == "a  open -> closed\n")
        #expect(result.talk.isEmpty)
        #expect(breaker.isCallPermitted)
        let event = try #require(try shop.store.history(of: "a").first)
        #expect(event.by == "ann")
        #expect(event.worker == "breaker-inspect")
        #expect(event.reason == "all well")
    }

    /// The reader is gone before anything is written; whatever a signal does by inheritance.
    @Test(arguments: ["", "trap '' PIPE; "])
    func endsQuietlyWithoutAReader(trap: String) throws {
        let shop = try Shop(clock: SystemHostClock())
        for number in 0..<20 { try shop.circuit("circuit \(number)", error: String(repeating: "x", count: 500)) }
        let line = "\(trap){ sleep 0.1; \"$0\" list --json; echo \"code $?\" >&2; } | true"
        let result = try Child.shell(line, store: shop.path)
        #expect(result.talk == "code 0\n")
    }

    /// The kernel would end the process (SIGXFSZ).
    @Test(arguments: [
        ("list --json >\"$BREAKER_STORE.list\"", "cannot write the output: File too large"),
        ("report \"$BREAKER_STORE.html\"", "File too large"),
        ("metrics --store \"$BREAKER_STORE\" --output \"$BREAKER_STORE.prom\"", "File too large"),
        ("reset a", "bytes that this process may give it (ulimit -f)"),
    ])
    func saysThatAFileMayNotGrow(arguments: String, talk: String) throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a", failures: 2, error: String(repeating: "x", count: 2_000))
        let result = try Child.shell("ulimit -f 1; \"$0\" \(arguments)", store: shop.path)
        #expect(result.code == 1)
        #expect(result.talk.contains(talk), "\(result.talk)")
    }

    @Test func fitsTheTerminalAndColoursThere() throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a", failures: 2, error: String(repeating: "long ", count: 50))
        let narrow = try Child.terminal("\"$0\" list --color never", store: shop.path, columns: 80)
        #expect(narrow.output.split(separator: "\n").last?.count == 80)
        let wide = try Child.terminal("NO_COLOR=1 \"$0\" list", store: shop.path, columns: 200)
        #expect(wide.output.split(separator: "\n").last?.count == 200)
        #expect(!wide.output.contains("\u{1B}"))
        #expect(try Child.terminal("\"$0\" list", store: shop.path, columns: 80).output.contains("\u{1B}[1;31mopen"))
        #expect(try !Child.terminal("TERM=dumb \"$0\" list", store: shop.path, columns: 80).output.contains("\u{1B}"))
        let piped = try Child.shell("\"$0\" list", store: shop.path).output
        #expect(!piped.contains("\u{1B}") && !piped.contains("…"))
    }

    @Test(arguments: [("y\n", 0), ("n\n", 2), ("\u{4}", 2)])
    func asksOnATerminal(answer: String, code: Int32) throws {
        let shop = try Shop(clock: SystemHostClock())
        let breaker = try shop.circuit("a", failures: 2)
        let result = try Child.terminal("\"$0\" reset --all", store: shop.path, columns: 80, prompt: "[y/N] ") {
            $0.type(answer)
        }
        #expect(result.code == code)
        #expect(result.output.hasPrefix("This would reset 1 circuit:\n  a  open -> closed\nGo on? [y/N] "))
        #expect((breaker.state == .closed) == (code == 0))
    }

    @Test func canBeInterrupted() throws {
        let shop = try Shop(clock: SystemHostClock())
        let breaker = try shop.circuit("a", failures: 2)
        // `exec`: the signal is for the tool, not for the shell.
        let line = "exec \"$0\" reset --all"
        let result = try Child.terminal(line, store: shop.path, columns: 80, prompt: "[y/N] ") {
            $0.type("\u{3}")
        }
        #expect(result.code == 130)
        #expect(breaker.state != .closed)
    }
}

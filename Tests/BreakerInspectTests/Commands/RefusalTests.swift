import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

@testable import breaker_inspect

/// What a command gets that must not run now: `run` and `admit` with a budget, as processes.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RefusalTests {
    private func shop(outage: String) throws -> Shop {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a", failures: 1, error: "connection refused")
        #expect(try Child.shell("\"$0\" record a outage=\(outage)", store: shop.path).code == 0)
        return shop
    }

    /// One that waited out its budget would take an hour.
    @Test(arguments: ["run a --wait 1h -- echo ran", "admit a --wait 1h"])
    func aLongOutageUsesNoBudgetUp(words: String) throws {
        let shop = try self.shop(outage: "2h")
        let result = try Child.shell("\"$0\" \(words)", store: shop.path)
        #expect(result.code == 75)
        #expect(result.output.isEmpty)
    }

    /// The budget is no shorter than what is left of the outage, and no jitter is added to it.
    @Test func noJitterGoesBeyondTheBudget() throws {
        let shop = try self.shop(outage: "2s")
        let line = """
            for waiter in 1 2 3 4 5 6 7 8; do "$0" run a --wait 2s -- echo ran & done; wait
            """
        let result = try Child.shell(line, store: shop.path)
        let expected = String(repeating: "ran\n", count: 8)
        #expect(result.output == expected, "\(result.talk)")
    }

    /// Between the two documents the time falls; the line names the whole second above.
    @Test func secondsAreRoundedUp() throws {
        let shop = try self.shop(outage: "40400ms")
        let line = "\"$0\" run a --json -- true; \"$0\" run a -- true 2>&1; \"$0\" run a --json -- true"
        let lines = try Child.shell(line, store: shop.path).output.split(separator: "\n")
        try #require(lines.count == 3)
        func seconds(_ document: Substring) throws -> Int {
            let values = try JSONSerialization.jsonObject(with: Data(document.utf8)) as? [String: Any]
            let milliseconds = try #require(values?["retryInMs"] as? Int)
            return (milliseconds + 999) / 1_000
        }
        let shown = try #require(lines[1].firstMatch(of: #/retry in (\d+) s$/#).flatMap { Int($0.1) })
        #expect(try (seconds(lines[2])...seconds(lines[0])).contains(shown), "\(lines)")
    }

    /// Who reads it must not go and change rules: the provider has asked for the pause.
    @Test(arguments: ["run a -- true", "admit a", "run a --wait 1s -- true"])
    func theProvidersOutageIsNamed(words: String) throws {
        let shop = try self.shop(outage: "41m")
        let talk = try Child.shell("\"$0\" \(words)", store: shop.path).talk
        #expect(talk == "refused: open, the provider has declared an outage, retry in 41 min\n")
        let own = try shop.circuit("b", failures: 2)
        #expect(own.state.isOpen)
        let other = try Child.shell("\"$0\" \(words.replacing(" a", with: " b"))", store: shop.path).talk
        #expect(other.hasPrefix("refused: open, retry in "), "\(other)")
    }

    /// One whose caller gives up runs nothing later, and leaves no slot behind.
    @Test func aWaitThatIsInterruptedRunsNothing() throws {
        let shop = try self.shop(outage: "1h")
        // The store's thread begins with its opening: a second thread shows that `run` asks the circuit, or waits.
        let line = """
            "$0" run a --wait 2h -- sh -c ': >"$BREAKER_STORE.ran"' & run=$!
            threads() { ls /proc/$run/task | wc -l; }
            \(Child.until(#"[ -e "$BREAKER_STORE.ran" ] || [ "$(threads)" -gt 1 ]"#))
            kill -TERM $run; wait $run; echo "code $?"; "$0" probe a >&2; "$0" run a -- echo probe
            ls "$BREAKER_STORE.ran" 2>&1 | grep -c 'No such'
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "code 143\nprobe\n1\n", "\(result.talk)")
    }

    /// What can be read is obeyed, though nothing can be written.
    @Test(arguments: ["hold open a --reason moving", "record a outage=1h"], ["run a -- echo ran", "admit a"])
    func obeysAFileThatIsLocked(setup: String, words: String) throws {
        let shop = try Shop(clock: SystemHostClock())
        try shop.circuit("a")
        try shop.circuit("b")
        #expect(try Child.shell("\"$0\" \(setup)", store: shop.path).code == 0)
        let holder = try LockHolder(shop.path, ["BEGIN IMMEDIATE"])
        defer { holder.end() }
        let result = try Child.shell("\"$0\" \(words); echo $?", store: shop.path)
        #expect(result.output == "75\n", "\(result.talk)")
        #expect(result.talk.hasPrefix("refused: "), "\(result.talk)")
        #expect(try Child.shell("\"$0\" run b -- echo ran", store: shop.path).output == "ran\n")
    }

    @Test func checkNamesWhatRefusesAlone() throws {
        let shop = try Shop(clock: ManualHostClock())
        try shop.circuit("a", failures: 2)
        try shop.store.hold(shop.circuit("b").name, .open, by: "ann", reason: "moving")
        try shop.store.hold(shop.circuit("c").name, .closed)
        let result = shop.inspect("check", "--refusing")
        #expect(result.output == "a  refused: open, retry in 30 s\nb  refused: held open by ann: moving\n")
    }

    /// A setgid directory belongs to a group, whose users share what is in it.
    @Test(arguments: [("2770", "660"), ("2777", "600"), ("770", "600")]) func aGroupSharesItsFiles(
        directory: String, file: String
    ) throws {
        let shop = try Shop(clock: SystemHostClock())
        let line = """
            mkdir "$BREAKER_STORE.d" && chmod \(directory) "$BREAKER_STORE.d" && cd "$BREAKER_STORE.d"
            "$0" run a --store s.db -- true; stat -c %a s.db
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "\(file)\n", "\(result.talk)")
    }
}

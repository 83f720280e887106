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
}

import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// `admit`, `finish` and `record` in real shells.
@Suite(.serialized, .timeLimit(.minutes(10))) struct PermitTests {
    private func shop() throws -> Shop { try Shop(clock: SystemHostClock()) }

    @Test func aShellAsksAndReports() throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a")
        let line = """
            p=$("$0" admit a) && "$0" finish "$p" failure --error 'HTTP 500'; echo "code $?"
            "$0" finish "$p" failure; echo "code $?"
            p=$("$0" admit a) && "$0" finish "$p" success; echo "code $?"; echo $$
            """
        let result = try Child.shell(line, store: shop.path)
        let lines = result.output.split(separator: "\n")
        #expect(lines.prefix(3) == ["code 0", "code 0", "code 0"], "\(result.talk)")
        #expect(breaker.failureCount == 1)
        #expect(breaker.totals.failed == 1)
        #expect(breaker.totals.succeeded == 1)
        #expect(try shop.store.circuit(named: "a")?.lastError == "HTTP 500")
        let talk = result.talk.split(separator: "\n")
        let holder = "holder: \(lines.last ?? "") (sh)"
        #expect(
            talk.map { $0.split(separator: ", or").first ?? $0 } == [
                Substring(holder), "breaker-inspect: nothing was counted: the permit was finished before",
                Substring(holder),
            ])
    }

    /// The subshell of `$(… || …)` is a process that ends before the call is made.
    @Test func aSubshellIsNoGoodHolder() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        let line = #"p=$("$0" admit a || exit); q=$("$0" admit a --holder-pid $$ || exit); echo $$ "${q#permit1}""#
        let result = try Child.shell(line, store: shop.path)
        let talk = result.talk.split(separator: "\n")
        #expect(talk.count == 4, "\(result.talk)")
        #expect(talk[1].hasSuffix(" is a subshell, and the permit ends with it"))
        #expect(talk[2].contains("--holder-pid $$"))
        let shell = result.output.split(separator: " ").first ?? ""
        #expect(talk[3] == "holder: \(shell) (sh)")
        #expect(result.output.contains(".\(shell)."))
    }

    @Test func onlyAnAncestorMayBeTheHolder() throws {
        let shop = try self.shop()
        try shop.circuit("a")
        for pid in ["0", "-1", "x", "99999999999", "4194304"] {
            let result = try Child.shell("\"$0\" admit a --holder-pid=\(pid)", store: shop.path)
            #expect(result.code == 64, "\(pid)")
            #expect(result.output.isEmpty)
        }
        let result = try Child.shell("sleep 60 & \"$0\" admit a --holder-pid $!; echo $?; kill $!", store: shop.path)
        #expect(result.output == "64\n")
        #expect(result.talk.contains("is no ancestor of this one"))
    }

    @Test func aRefusalPrintsNoPermit() throws {
        let shop = try self.shop()
        try shop.circuit("a", failures: 2)
        let result = try Child.shell(
            "p=$(\"$0\" admit a); echo \"$? '$p'\"; \"$0\" finish \"$p\" success", store: shop.path)
        #expect(result.output == "75 ''\n")
        #expect(result.talk.hasPrefix("refused: open, retry in "), "\(result.talk)")
        #expect(result.talk.contains("this is no permit: it is empty"))
        #expect(result.code == 64)
    }

    @Test func recordRegistersAndKeepsRules() throws {
        let shop = try self.shop()
        let line = """
            "$0" record new failure --rule 2x --error down; echo $?
            "$0" record new failure --rule 5x; echo $?
            "$0" record old outage=90s; echo $?; "$0" record old ignored; echo $?
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "0\n0\n0\n64\n", "\(result.talk)")
        #expect(result.talk.contains("'new' keeps its stored rules"))
        #expect(try shop.store.circuit(named: "new")?.state.isOpen ?? false)
        #expect(try shop.store.circuit(named: "old")?.state.isOpen ?? false)
    }

    /// Two shells are two reporters, however many processes of the tool they start; one of them is one.
    @Test func theReporterIsTheShell() throws {
        let shop = try self.shop()
        let breaker = try shop.store.breaker(
            .init(name: "a", trip: .failures(3, within: .seconds(60)), minimumReporters: 2))
        let fail = "p=$(\"$0\" admit a --holder-pid $$ 2>/dev/null); \"$0\" finish \"$p\" failure"
        _ = try Child.shell("for i in 1 2 3 4; do \(fail); done", store: shop.path)
        #expect(breaker.state == .closed)
        // The first shell has ended: one that lives is one reporter, two are enough.
        let other = "sh -c '\(fail.replacing("'", with: "'\\''")); read wait' \"$0\" <\"$BREAKER_STORE.pipe\" &"
        let line = """
            mkfifo "$BREAKER_STORE.pipe"; exec 3<>"$BREAKER_STORE.pipe"
            \(fail); "$0" check a; echo $?
            \(other)
            refuses() { "$0" check a >/dev/null; [ $? = 3 ]; }; \(Child.until("refuses")); echo >&3; wait; echo open
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "0\nopen\n", "\(result.talk)")
    }

    @Test func aPermitOfAnotherStoreCountsNowhere() throws {
        let (shop, other) = (try self.shop(), try self.shop())
        try shop.circuit("a")
        let breaker = try other.circuit("a")
        let line = "p=$(\"$0\" admit a); \"$0\" finish \"$p\" failure --store '\(other.path)'; echo $?"
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "0\n")
        #expect(result.talk.contains("nothing was counted: the permit is"), "\(result.talk)")
        #expect(breaker.totals.failed == 0)
    }

    // MARK: - Stores that can't be used

    /// Never in the way: the hook goes on, and knows that nothing counts.
    @Test(arguments: [
        "export BREAKER_STORE=\"$BREAKER_STORE.d/none/a.db\"",
        "head -c 9000 /dev/urandom >\"$BREAKER_STORE.x\"; mkdir \"$BREAKER_STORE.x-lock\"; "
            + "export BREAKER_STORE=\"$BREAKER_STORE.x\"",
    ]) func anUnusableStoreIsNotInTheWay(setup: String) throws {
        let shop = try self.shop()
        let line = """
            said="$BREAKER_STORE.said"; \(setup)
            set -e; p=$("$0" admit a 2>"$said"); grep -c 'counts nowhere' "$said"
            "$0" finish "$p" failure; echo finished; "$0" record a failure; echo recorded
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "1\nfinished\nrecorded\n", "\(result.talk)")
        #expect(result.talk.contains("nothing was counted: "))
    }

    /// A text of an earlier failure does not explain the outage that the provider declares.
    @Test(arguments: ["", "--error ''"]) func anOutageHasNoOthersError(option: String) throws {
        let shop = try self.shop()
        let line = "\"$0\" record a failure --error 'HTTP 500'; \"$0\" record a outage=30 \(option); echo $?"
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "0\n", "\(result.talk)")
        let circuit = try #require(try shop.store.circuit(named: "a"))
        #expect(circuit.lastError == nil)
        #expect(try shop.store.history(of: "a").first?.reason?.hasSuffix("down for 30 s") ?? false)
    }
}

import BreakerStore
import BreakerTestSupport
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

/// The process that keeps a probe's slot between `admit` and `finish`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct KeeperTests {
    private let shop: Shop
    private let breaker: CircuitBreaker

    /// A circuit that is due for its one probe.
    init() throws { (self.shop, self.breaker) = try Self.dueShop(lease: .seconds(60)) }

    private static func dueShop(lease: Duration) throws -> (Shop, CircuitBreaker) {
        let shop = try Shop(clock: SystemHostClock())
        var config = CircuitBreaker.Config(name: "a", trip: .consecutiveFailures(1))
        config.probes.lease = lease
        let breaker = try shop.store.breaker(config)
        breaker.recordFailure(Boom())
        try shop.store.probe("a")
        return (shop, breaker)
    }

    /// A process that has asked for the probe, and does not end by itself.
    private final class Holder {
        let text: PermitText

        private let shell: Child.Lasting

        init(_ shop: Shop) throws {
            let file = "\(shop.path).\(UUID().uuidString)"
            let script = "\"$0\" admit a >\"$1\" && mv \"$1\" \"$1.permit\"; exec sleep 3600"
            self.shell = try Child.Lasting(["sh", "-c", script, Child.tool.path, file], store: shop.path)
            var line: String?
            let limit = ContinuousClock.now + .hangLimit
            while line == nil {
                try #require(ContinuousClock.now < limit, "'admit' prints no permit")
                usleep(5_000)
                line = try? String(contentsOfFile: "\(file).permit", encoding: .utf8)
            }
            self.text = try PermitText(String(line?.dropLast() ?? ""))
            #expect(self.text.permit.source == .probe)
            #expect(self.text.holder.pid == self.shell.pid)
        }
    }

    private func finish(_ holder: Holder, _ outcome: String, _ shop: Shop? = nil) throws -> Child.Result {
        try Child.shell("exec \"$0\" finish '\(holder.text.text)' \(outcome)", store: (shop ?? self.shop).path)
    }

    /// The code with which a call of another shell ends.
    private func call(_ shop: Shop? = nil) throws -> Int32 {
        try Child.shell("exec \"$0\" run a -- true", store: (shop ?? self.shop).path).code
    }

    private func waitForEnd(of keeper: RunningProcess?) throws {
        let keeper = try #require(keeper)
        let limit = ContinuousClock.now + .hangLimit
        while keeper.isRunning {
            try #require(ContinuousClock.now < limit, "the keeper goes on")
            usleep(1_000)
        }
    }

    /// A lease that was left to expire would free the slot, too, after a minute.
    private func expectNoExpiry() throws {
        #expect(try !self.shop.store.history(of: "a").contains { $0.kind == .probeExpired })
    }

    @Test func finishEndsTheKeeper() throws {
        let holder = try Holder(self.shop)
        #expect(holder.text.keeper?.isRunning ?? false)
        #expect(try self.call() == 75)
        #expect(try self.shop.store.circuit(named: "a")?.probes.map(\.pid) == [holder.text.holder.pid])
        let result = try self.finish(holder, "success")
        #expect(result.code == 0)
        #expect(result.talk.isEmpty)
        #expect(self.breaker.state == .closed)
        try self.waitForEnd(of: holder.text.keeper)
        #expect(try self.finish(holder, "failure").talk.contains("nothing was counted"))
        #expect(self.breaker.state == .closed)
    }

    /// What the holder's descendants call is a part of its probe; another call of the holder itself is not.
    @Test func onlyDescendantsOfTheHolderAreAPartOfItsProbe() throws {
        let inner = "q=$(\"$0\" admit a --holder-pid $$); echo \"$q\" | cut -d. -f1-2; \"$0\" finish \"$q\" failure"
        let line = """
            p=$("$0" admit a --holder-pid $$); "$0" admit a --holder-pid $$; echo "code $?"
            sh -c '\(inner)' "$0"
            "$0" run a -- echo inner; "$0" finish "$p" success
            """
        let result = try Child.shell(line, store: self.shop.path)
        #expect(result.output == "code 75\npermit1.unreported\ninner\n", "\(result.talk)")
        #expect(result.talk.contains("the call is a part of a probe, whose outcome alone counts"))
        #expect(result.talk.contains("nothing was counted: the permit is one of a call that counts nowhere"))
        #expect(self.breaker.state == .closed)
        #expect(self.breaker.totals.failed == 1)
    }

    /// A part of a probe counts nowhere; but what the provider says to it holds for all.
    @Test func anOutageWithinAProbeIsBelieved() throws {
        let inner = "q=$(\"$0\" admit a --holder-pid $$); \"$0\" finish \"$q\" outage=1h"
        let line = "p=$(\"$0\" admit a --holder-pid $$); sh -c '\(inner)' \"$0\"; \"$0\" finish \"$p\" success"
        let result = try Child.shell(line, store: self.shop.path)
        #expect(!self.breaker.isCallPermitted, "\(result.talk)")
    }

    /// Each container counts its processes from 1: there the prober's pid says nothing.
    @Test func aProcessOfAnotherPidNamespaceIsNoAncestor() throws {
        let line = """
            inside="unshare -pf --mount-proc"; [ "$(id -u)" = 0 ] || inside="unshare -Urpf --mount-proc"
            $inside "$0" run a -- sh -c ': >"$BREAKER_STORE.runs"; \(Child.until(#"[ -e "$BREAKER_STORE.end" ]"#))' &
            \(Child.until(#"[ -e "$BREAKER_STORE.runs" ]"#))
            "$0" run a -- echo ran; echo "code $?"
            $inside sh -c '"$0" run a -- echo ran; echo "code $?"' "$0"
            : >"$BREAKER_STORE.end"; wait
            """
        let result = try Child.shell(line, store: self.shop.path)
        #expect(result.output == "code 75\ncode 75\n", "\(result.talk)")
    }

    /// The process that has adopted it has not asked for the call.
    @Test func anOrphanMustNameItsHolder() throws {
        let line = """
            setsid -f sh -c '\(Child.until("[ \"$(cut -d\" \" -f4 /proc/$$/stat)\" = 1 ]"))
                exec "$0" admit a >"$BREAKER_STORE.out" 2>"$BREAKER_STORE.said"' "$0"
            \(Child.until("grep -q hint \"$BREAKER_STORE.said\" 2>/dev/null"))
            cat "$BREAKER_STORE.out"; "$0" admit a --holder-pid 1; echo $?
            """
        let result = try Child.shell(line, store: self.shop.path)
        #expect(result.output == "64\n", "\(result.talk)")
        #expect(result.talk.contains("process 1"), "\(result.talk)")
        #expect(try String(contentsOfFile: self.shop.path + ".said", encoding: .utf8).contains("makes no call"))
        #expect(try self.shop.store.circuit(named: "a")?.probes.isEmpty ?? false)
    }

    /// A permit that is finished again, after the circuit has recovered, reports the outage of before.
    @Test(arguments: ["outage=1h", "success"]) func anOutageOfBeforeARecoveryIsLate(first: String) throws {
        let line = """
            p=$("$0" admit a); "$0" finish "$p" \(first); "$0" reset a >/dev/null; "$0" finish "$p" outage=1h
            """
        let result = try Child.shell(line, store: self.shop.path)
        #expect(self.breaker.state == .closed)
        #expect(result.talk.contains("nothing was counted: "), "\(result.talk)")
    }

    @Test(arguments: ["ignored", "failure", "outage=90s"]) func anOutcomeFreesTheSlot(outcome: String) throws {
        let holder = try Holder(self.shop)
        #expect(try self.finish(holder, outcome).talk.isEmpty)
        try self.waitForEnd(of: holder.text.keeper)
        #expect(self.breaker.state.isOpen == (outcome != "ignored"))
        if outcome == "ignored" { #expect(try self.call() == 0) }
    }

    /// No descriptor of the shell stays open in the keeper, whatever its number: `$(…)` would wait for the keeper.
    @Test func noSubstitutionWaitsForTheKeeper() throws {
        let line = """
            p=$("$0" admit a --holder-pid $$ 5>&1 7>&1); echo "$p" | cut -d. -f2
            k=$(echo "$p" | cut -d. -f12); ls -l /proc/$k/fd | sed -n 's/.* -> //p' | sed 's/.*-lock$/lock/; s/\\[.*//'
            cat /proc/$k/comm; cut -d' ' -f6 /proc/$k/stat | grep -qx $k && echo session; readlink /proc/$k/cwd
            """
        let result = try Child.shell(line, store: self.shop.path)
        let lines = result.output.split(separator: "\n").map(String.init)
        #expect(lines.first == "probe", "\(result.talk)")
        #expect(lines.dropFirst().filter { $0 == "/dev/null" }.count == 3, "\(result.output)")
        #expect(lines.filter { $0 == "lock" }.count == 1, "\(result.output)")
        #expect(lines.suffix(3) == ["breaker-keeper", "session", "/"], "\(result.output)")
        #expect(lines.count <= 1 + 3 + 1 + 1 + 3, "\(result.output)")
    }

    @Test func theSlotIsFreeWithTheEndOfTheHolder() throws {
        let line = """
            sh -c '"$0" admit a >"$BREAKER_STORE.new"; mv "$BREAKER_STORE.new" "$BREAKER_STORE.permit"; exec sleep 3600' "$0" &
            \(Child.until(#"[ -e "$BREAKER_STORE.permit" ]"#))
            "$0" run a -- true; echo $?
            kill -9 $!; wait $! 2>/dev/null
            k=$(cut -d. -f12 "$BREAKER_STORE.permit"); \(Child.until("! kill -0 $k 2>/dev/null"))
            "$0" run a -- true; echo $?; "$0" finish "$(cat "$BREAKER_STORE.permit")" failure; echo $?
            """
        let result = try Child.shell(line, store: self.shop.path)
        #expect(result.output == "75\n0\n0\n", "\(result.talk)")
        #expect(result.talk.contains("nothing was counted"))
        #expect(self.breaker.state == .closed)
        let deaths = try self.shop.store.history(of: "a").filter { $0.kind == .proberDied }
        #expect(deaths.count == 1 && deaths.first?.subject?.hasPrefix("sh[") == true, "\(deaths)")
    }

    /// Also if no other process has taken the slot: the outcome of a probe counts as long as its slot is kept.
    @Test func aPermitWithoutItsKeeperCountsNothing() throws {
        let holder = try Holder(self.shop)
        let keeper = try #require(holder.text.keeper)
        kill(keeper.pid, SIGKILL)
        try self.waitForEnd(of: keeper)
        let permit = holder.text.permit
        #expect(try self.breaker.renewProbe(token: permit.token, epoch: permit.epoch) == nil)
        #expect(try self.finish(holder, "failure").talk.contains("nothing was counted"))
        let kinds = try self.shop.store.history(of: "a", limit: 2).map(\.kind)
        #expect(kinds == [.proberDied, .probing])
    }

    @Test func theSlotIsFreeWithTheEndOfTheKeeper() throws {
        let holder = try Holder(self.shop)
        let keeper = try #require(holder.text.keeper)
        kill(keeper.pid, SIGKILL)
        try self.waitForEnd(of: keeper)
        #expect(try self.call() == 0)
        #expect(self.breaker.state == .closed)
        #expect(try self.finish(holder, "failure").talk.contains("nothing was counted"))
        #expect(self.breaker.state == .closed)
    }

    /// Until the permit is written, and the keeper is released, the slot ends with `admit`.
    @Test(arguments: [
        "admit.opened", "admit.admitted", "admit.kept", "close.unregistered", "session.closed", "admit.left",
        "admit.written",
    ]) func aKilledAdmitKeepsNoSlot(step: String) throws {
        let line = """
            sh -c 'BREAKER_KILLED_AT=\(step) "$0" admit a >/dev/null 2>&1; echo $? >"$BREAKER_STORE.code"
                exec sleep 3600' "$0" >/dev/null 2>&1 &
            \(Child.until(#"[ -s "$BREAKER_STORE.code" ]"#)); cat "$BREAKER_STORE.code"
            \(Child.until(#""$0" run a -- true 2>/dev/null"#)); echo ran; kill $!
            """
        let result = try Child.shell(line, store: self.shop.path)
        #expect(result.output == "137\nran\n", "\(result.talk)")
        try self.expectNoExpiry()
        #expect(self.breaker.state == .closed)
    }

    /// A permit that could not be written is nobody's.
    @Test func aPermitThatNobodyGetsKeepsNoSlot() throws {
        let line = """
            sh -c '"$0" admit a >/dev/full 2>&1; echo $? >"$BREAKER_STORE.code"; exec sleep 3600' "$0" >/dev/null 2>&1 &
            \(Child.until(#"[ -s "$BREAKER_STORE.code" ]"#)); cat "$BREAKER_STORE.code"
            \(Child.until(#""$0" run a -- true 2>/dev/null"#)); echo ran; kill $!
            """
        let result = try Child.shell(line, store: self.shop.path)
        #expect(result.output == "1\nran\n", "\(result.talk)")
        try self.expectNoExpiry()
    }

    /// `finish` may be killed and called again: the outcome counts once, and the slot is free.
    @Test(arguments: ["finish.opened", "finish.reported", "close.unregistered", "session.closed"])
    func aKilledFinishCountsOnce(step: String) throws {
        let holder = try Holder(self.shop)
        for killed in ["BREAKER_KILLED_AT=\(step) ", ""] {
            let line = "\(killed)\"$0\" finish '\(holder.text.text)' success; echo $?"
            let result = try Child.shell(line, store: self.shop.path)
            #expect(result.output == (killed.isEmpty ? "0\n" : "137\n"), "\(result.talk)")
        }
        try self.waitForEnd(of: holder.text.keeper)
        #expect(self.breaker.state == .closed)
        #expect(try self.shop.store.history(of: "a").count { $0.kind == .closed } == 1)
        // A failure of a closed circuit, too.
        _ = try self.shop.store.breaker(.init(name: "a", trip: .failures(5, within: .seconds(600))))
        let line = """
            p=$("$0" admit a); BREAKER_KILLED_AT=\(step) "$0" finish "$p" failure; echo $?
            "$0" finish "$p" failure; echo $?
            """
        let result = try Child.shell(line, store: self.shop.path)
        #expect(result.output == "137\n0\n", "\(result.talk)")
        #expect(self.breaker.failureCount == 1)
    }

    /// A permit is a text: it may name any process.
    @Test func noOtherProcessIsEnded() throws {
        let holder = try Holder(self.shop)
        let sleeping = try Child.Lasting(["sleep", "3600"], store: self.shop.path)
        let other = try #require(RunningProcess(pid: sleeping.pid))
        var text = holder.text
        text.keeper = other
        let result = try Child.shell("exec \"$0\" finish '\(text.text)' ignored", store: self.shop.path)
        #expect(result.code == 0)
        #expect(other.isRunning)
        sleeping.end()
        // Nor the keeper of another token, or one with that pid that began at another time.
        let (keeper, token) = (try #require(holder.text.keeper), holder.text.permit.token)
        Keeper.end(keeper, token: token ^ 1)
        Keeper.end(RunningProcess(pid: keeper.pid, start: keeper.start + 1), token: token)
        #expect(keeper.isRunning)
        Keeper.end(keeper, token: token)
        try self.waitForEnd(of: keeper)
    }

    @Test func theLeaseIsRenewed() throws {
        let (shop, breaker) = try Self.dueShop(lease: .seconds(8))
        let holder = try Holder(shop)
        let first = try #require(try shop.store.circuit(named: "a")?.probes.first?.leaseEnds)
        while Date() < first {
            usleep(50_000)
            #expect(try shop.store.circuit(named: "a")?.probes.count == 1)
        }
        let second = try #require(try shop.store.circuit(named: "a")?.probes.first?.leaseEnds)
        #expect(second > first)
        #expect(try self.call(shop) == 75)
        #expect(try self.finish(holder, "success", shop).talk.isEmpty)
        #expect(breaker.state == .closed)
    }

    @Test func aKeeperThatIsStoppedLosesTheSlot() throws {
        let (shop, breaker) = try Self.dueShop(lease: .seconds(2))
        let holder = try Holder(shop)
        let keeper = try #require(holder.text.keeper)
        kill(keeper.pid, SIGSTOP)
        let limit = ContinuousClock.now + .hangLimit
        while try self.call(shop) != 0 {
            try #require(ContinuousClock.now < limit)
            usleep(50_000)
        }
        #expect(breaker.state == .closed)
        #expect(try shop.store.history(of: "a").contains { $0.kind == .probeExpired })
        #expect(keeper.isRunning)
        // It finds out at its next renewal.
        kill(keeper.pid, SIGCONT)
        try self.waitForEnd(of: keeper)
        #expect(try self.finish(holder, "failure", shop).talk.contains("nothing was counted"))
    }
}

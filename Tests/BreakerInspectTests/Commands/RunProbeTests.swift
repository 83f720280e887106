import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// `run` beside others, at a circuit that tries its service again.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RunProbeTests {
    private func shop() throws -> Shop { try Shop(clock: SystemHostClock()) }

    /// A line that waits until a file is there.
    private static func await(_ file: String) -> String {
        Child.until("[ -e \"$BREAKER_STORE.\(file)\" ]")
    }

    /// Of 40 runs of 8 shells at the instant at which the circuit is due, as many run as there are slots.
    @Test(arguments: [1, 3]) func noMoreRunThanThereAreSlots(limit: Int) throws {
        let shop = try self.shop()
        let breaker = try shop.store.breaker(
            .init(
                name: "a", trip: .consecutiveFailures(1), probes: ProbeRule(limit: limit, successesToClose: limit)))
        breaker.recordFailure(Boom())
        try shop.store.probe("a")
        let line = """
            for shell in 1 2 3 4 5 6 7 8; do (
                \(Self.await("go"))
                for call in 1 2 3 4 5; do (
                    "$0" run a -- sh -c 'echo ran; echo >"$BREAKER_STORE.ran$$"; \(Self.await("end"))' 2>/dev/null
                    echo "code $?" >>"$BREAKER_STORE.$shell"
                ) & done
                wait
            ) & done
            : >"$BREAKER_STORE.go"
            count() { cat "$BREAKER_STORE".[1-8] "$BREAKER_STORE".ran* 2>/dev/null | wc -l; }
            \(Child.until(#"[ "$(count)" = 40 ]"#))
            : >"$BREAKER_STORE.end"; wait; cat "$BREAKER_STORE".[1-8] | sort | uniq -c | tr -s ' '
            "$0" run a -- echo all
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output.components(separatedBy: "ran\n").count == limit + 1, "\(result.output)\(result.talk)")
        #expect(result.output.hasSuffix(" \(limit) code 0\n \(40 - limit) code 75\nall\n"), "\(result.output)")
        #expect(breaker.state == .closed)
    }

    /// The slot is free as soon as the kernel has ended `run`, and its command is gone.
    @Test func aKilledRunTakesItsCommandWithIt() throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a", failures: 2)
        try shop.store.probe("a")
        let line = """
            "$0" run a -- sh -c 'echo $$ >"$BREAKER_STORE.new"; mv "$BREAKER_STORE.new" "$BREAKER_STORE.pid"; exec sleep 3600' &
            run=$!
            \(Self.await("pid")); pid=$(cat "$BREAKER_STORE.pid")
            "$0" run a -- true; echo "code $?"
            kill -9 $run; wait $run 2>/dev/null
            \(Child.until("! kill -0 $pid 2>/dev/null"))
            "$0" run a -- true; echo "code $?"
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "code 75\ncode 0\n", "\(result.talk)")
        #expect(result.talk.contains("refused: probing"))
        #expect(breaker.state == .closed)
    }

    /// The probe takes more than twice its lease.
    @Test func theLeaseIsRenewed() throws {
        let shop = try self.shop()
        var config = CircuitBreaker.Config(name: "a", trip: .consecutiveFailures(1))
        config.probes.lease = .seconds(2)
        let breaker = try shop.store.breaker(config)
        breaker.recordFailure(Boom())
        try shop.store.probe("a")
        let line = """
            "$0" run a -- sh -c ': >"$BREAKER_STORE.runs"; sleep 5; \(Self.await("end"))' & \(Self.await("runs")); sleep 4.5
            "$0" run a -- true; echo "code $?"; : >"$BREAKER_STORE.end"; wait $!; echo "code $?"
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "code 75\ncode 0\n", "\(result.talk)")
        #expect(breaker.state == .closed)
        #expect(try !shop.store.history(of: "a").contains { $0.kind == .probeExpired })
    }

    @Test func aProbesDescendantsRunUncounted() throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a", failures: 2)
        try shop.store.probe("a")
        let inner = "sh -c '\"$0\" run a -- false; echo $?; \"$0\" run a --wait 1h -- echo inner' \"$0\""
        let result = try Child.shell("\"$0\" run a -- \(inner)", store: shop.path)
        #expect(result.output == "1\ninner\n", "\(result.talk)")
        #expect(result.code == 0)
        #expect(breaker.state == .closed)
        #expect(breaker.totals.failed == 2)
        #expect(breaker.totals.succeeded == 1)
    }

    @Test func waitsForABusyProbe() throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a", failures: 2)
        try shop.store.probe("a")
        let line = """
            "$0" run a -- sh -c ': >"$BREAKER_STORE.runs"; \(Self.await("end"))' & \(Self.await("runs"))
            "$0" run a --wait 50ms -- echo early; echo "code $?"
            for waiter in 1 2 3; do "$0" run a --wait 1h -- echo ran & done
            sleep 0.3; : >"$BREAKER_STORE.end"; wait
            """
        let result = try Child.shell(line, store: shop.path)
        #expect(result.output == "code 75\nran\nran\nran\n", "\(result.talk)")
        #expect(breaker.state == .closed)
    }

    /// Each waits for the end of the outage; what the budget does not suffice for is refused at once.
    @Test func nobodyComesBeforeTheEndOfAnOutage() throws {
        let shop = try self.shop()
        let breaker = try shop.circuit("a")
        let line = """
            "$0" run a --retry-after-file "$BREAKER_STORE.after" -- sh -c 'echo 2 >"$BREAKER_STORE.after"; exit 1'
            """
        #expect(try Child.shell(line, store: shop.path).code == 1)
        guard case .open(let until) = breaker.state else {
            Issue.record("it is \(breaker.state)")
            return
        }
        let waiting = """
            "$0" run a --wait 1ms -- echo early; echo "code $?"
            for waiter in 1 2 3 4 5 6; do "$0" run a --wait 1h -- date +%s.%N & done; wait
            """
        let result = try Child.shell(waiting, store: shop.path)
        let lines = result.output.split(separator: "\n")
        #expect(lines.first == "code 75")
        let times = lines.dropFirst().compactMap { Double($0) }
        #expect(times.count == 6, "\(result.output)\(result.talk)")
        #expect(times.allSatisfy { $0 >= until.timeIntervalSince1970 }, "\(times) \(until.timeIntervalSince1970)")
    }
}

import BreakerTestSupport
import Testing

/// A probe that ends without a verdict frees its slot and changes nothing, as another process sees it.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct NoVerdictTests {
    /// How a probe begins and ends, and how its caller sees it end.
    static let cases = [
        (begin: "begin users policy", end: "finish ignore", ended: "Ignored"),
        (begin: "begin users", end: "finish cancel", ended: "CancellationError"),
        (begin: "begin users policy", end: "finish cancel", ended: "CancellationError"),
        (begin: "admit users", end: "ignored", ended: nil),
        (begin: "admit users", end: "discard", ended: nil),
        (begin: "admit users", end: "leak", ended: nil),
    ]

    @Test(arguments: cases)
    func freesTheSlot(begin: String, end: String, ended: String?) async throws {
        let place = try Workplace.here
        let workers = try await place.openWorkers(3)
        let (prober, other, witness) = (workers[0], workers[1], workers[2])
        // One success is there already, which must neither be lost nor doubled.
        try await workers.ask("breaker users failures=1 successes=3")
        try await witness.ask("fail users")
        place.clock.advance(by: .seconds(30))
        #expect(try await other.ask("call users").number("ran") == 1)
        #expect(try await prober.ask(begin).number("ran") == 1)
        let before = try await witness.ask("look users")
        #expect(before["probes"] == "1")
        #expect(try await other.ask("call users")["cause"] == "probing")

        #expect(try await prober.ask(end)["ended"] == ended)
        if ended == nil {
            // Nobody waits for a permit's end: the store's thread commits it.
            while try await witness.ask("look users")["probes"] != "0" { try Task.checkCancellation() }
        }
        let after = try await witness.ask("look users")
        #expect(after["probes"] == "0")
        #expect(after["permitted"] == "true")
        for key in ["state", "epoch", "since", "trips", "failures"] { #expect(after[key] == before[key], "\(key)") }
        for kind in ["probeExpired", "reopened", "closed"] {
            #expect(try await witness.ask("history users \(kind)").number("count") == 0, "\(kind)")
        }

        // Two more successes are missing.
        #expect(try await other.ask("call users").number("ran") == 1)
        #expect(try await witness.ask("look users")["state"] == "half-open")
        #expect(try await prober.ask("call users").number("ran") == 1)
        #expect(try await witness.ask("look users")["state"] == "closed")
    }
}

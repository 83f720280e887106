import BreakerTestSupport
import Testing

/// What a circuit knows of its trips and probes outlives each process.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RecoveryTests {
    /// Each step is another process's, the last one of which has been killed or has left.
    @Test func backOffGoesOnInNewProcesses() async throws {
        let place = try Workplace.here
        let waits = [10, 20, 40, 60, 60]
        for round in 0..<2 {
            for (trips, wait) in waits.enumerated() {
                let prober = try await Self.newWorker(place, Self.backOff)
                // The first trip of a row is a call's, the others are probes'.
                #expect(try await prober.ask("fail users").number("failed") == 1)
                if trips.isMultiple(of: 2) { await prober.die() } else { #expect(await prober.quit() == 0) }

                let other = try await Self.newWorker(place, Self.backOff)
                #expect(try await other.ask("look users").number("trips") == trips + 1)
                #expect(try await other.ask("call users").number("wait") == wait * 1_000_000)
                place.clock.advance(by: .microseconds(wait * 1_000_000 - 1))
                #expect(try await other.ask("call users").number("wait") == 1)
                place.clock.advance(by: .microseconds(1))
                await other.die()
            }
            // A row ends with the circuit's closing, or an operator's word.
            let last = try await Self.newWorker(place, Self.backOff)
            if round == 0 {
                #expect(try await last.ask("call users").number("ran") == 1)
            } else {
                try await last.ask("reset users")
            }
            #expect(await last.quit() == 0)
        }
        let worker = try await Self.newWorker(place, Self.backOff)
        #expect(try await worker.ask("look users").number("trips") == 0)
        try await worker.ask("fail users")
        #expect(try await worker.ask("call users").number("wait") == 10_000_000)
    }

    /// Jitter adds up to its share, over the cap too, and is drawn once for all.
    @Test func jitterIsDrawnOnce() async throws {
        let place = try Workplace.here
        let rule = "failures=1 recovery=10 multiplier=2 cap=40 jitter=0.5"
        var draws: Set<Int> = []
        for trips in 0..<8 {
            let prober = try await Self.newWorker(place, rule)
            #expect(try await prober.ask("fail users").number("failed") == 1)
            let wait = try #require(try await prober.ask("call users").number("wait"))
            await prober.die()
            let base = min(10 << trips, 40) * 1_000_000
            #expect((base...base * 3 / 2).contains(wait), "after \(trips) trips")
            draws.insert(wait * 1_000 / base)
            let other = try await Self.newWorker(place, rule)
            #expect(try await other.ask("call users").number("wait") == wait)
            place.clock.advance(by: .microseconds(wait))
            await other.die()
        }
        // By chance all would be the same once in 500 to the seventh.
        #expect(draws.count > 1)
    }

    @Test func successesAddUpOverProcesses() async throws {
        let place = try Workplace.here
        let rule = "failures=1 successes=4"
        let first = try await Self.newWorker(place, rule)
        try await first.ask("fail users")
        await first.die()
        place.clock.advance(by: .seconds(30))
        for number in 1...4 {
            // One that dies as a prober neither adds nor takes away.
            let victim = try await Self.newWorker(place, rule)
            #expect(try await victim.ask("begin users").number("ran") == 1)
            await victim.die()
            let worker = try await Self.newWorker(place, rule)
            #expect(try await worker.ask("look users")["state"] == "half-open")
            #expect(try await worker.ask("call users").number("ran") == 1)
            #expect(try await worker.ask("look users")["state"] == (number < 4 ? "half-open" : "closed"))
            if number.isMultiple(of: 2) { await worker.die() } else { #expect(await worker.quit() == 0) }
        }
        let last = try await Self.newWorker(place, rule)
        #expect(try await last.ask("look users").description.hasPrefix("state=closed failures=0 "))
        #expect(try await last.ask("history users probing").number("count") == 1)
        #expect(try await last.ask("history users closed").number("count") == 1)
    }

    private static let backOff = "failures=1 recovery=10 multiplier=2 cap=60"

    private static func newWorker(_ place: Workplace, _ rule: String) async throws -> WorkerProcess {
        let worker = try await place.openWorker()
        try await worker.ask("breaker users \(rule)")
        return worker
    }
}

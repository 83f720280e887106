import BreakerTestSupport
import Testing

/// `minimumReporters`: a circuit trips only when so many different workers saw failures.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct ReporterTests {
    /// A process fails and is killed, comes back, and fails: no process that lived on has seen a failure.
    @Test(arguments: ["failures=3", "consecutive=3", "rate=0.5 minimum=3", "slow=10 slow-share=0.5 minimum=3"])
    func aCrashLoopNeverTripsAlone(rules: String) async throws {
        let place = try Workplace.here
        // Not a user of the circuit yet: under a rule of shares a process that is alone decides at once.
        let bystander = try await place.openWorker()
        // A slow call goes well: under the last rule nothing fails.
        let bad = rules.hasPrefix("slow") ? "slow users 1 11" : "fail users"
        for _ in 0..<3 {
            let victim = try await place.openWorker()
            try await victim.ask("breaker users \(rules) reporters=2")
            for _ in 0..<2 { #expect(try await victim.ask(bad)["refused"] == "0") }
            await victim.die()
        }
        let successor = try await place.openWorker()
        try await successor.ask("breaker users \(rules) reporters=2")
        for _ in 0..<5 { #expect(try await successor.ask(bad)["refused"] == "0") }
        try await bystander.ask("breaker users \(rules) reporters=2")
        #expect(try await bystander.ask("look users")["state"] == "closed")
        #expect(try await bystander.ask("history users tripped").number("count") == 0)
        // A second process that lives.
        #expect(try await bystander.ask(bad)["refused"] == "0")
        try await bystander.ask("until users open")
        for reply in try await [bystander, successor].ask("call users") { #expect(reply["cause"] == "open") }
        #expect(try await bystander.ask("history users tripped").number("count") == 1)
    }
}

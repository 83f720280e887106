import BreakerStore
import BreakerTestSupport
import BreakerTool
import Testing

@testable import breaker_inspect

/// `hold closed` turns circuits off in all processes: their calls count in totals and metrics, and for no rule.
@Suite(.timeLimit(.minutes(10)), .ownDirectory) struct OffSwitchTests {
    private func run(_ arguments: [String], at here: Workplace) -> (code: ExitCode, output: String, talk: String) {
        let console = RecordingConsole()
        let code = breaker_inspect.run(
            arguments: arguments, environment: ["BREAKER_STORE": here.store], console: console, clock: here.clock)
        return (code, console.output, console.talk)
    }

    private static func workers(_ count: Int, in here: Workplace) async throws -> [WorkerProcess] {
        let workers = try await here.openWorkers(count)
        for (name, group) in [("cards", "shop"), ("cart", "shop"), ("mail", "office")] {
            try await workers.ask("breaker \(name) failures=2 group=\(group)")
        }
        return workers
    }

    struct Choice: Sendable, CustomTestStringConvertible {
        var words: [String]
        var held: [String]
        var testDescription: String { self.words.joined(separator: " ") }
    }

    @Test(arguments: [
        Choice(words: ["cards"], held: ["cards"]), Choice(words: ["ca*"], held: ["cards", "cart"]),
        Choice(words: ["cards", "m*"], held: ["cards", "mail"]),
        Choice(words: ["--group", "shop"], held: ["cards", "cart"]),
        Choice(words: ["--group=office"], held: ["mail"]), Choice(words: ["--all"], held: ["cards", "cart", "mail"]),
    ])
    func eachSelectionHoldsInAllProcesses(choice: Choice) async throws {
        let here = try Workplace.here
        let workers = try await Self.workers(2, in: here)
        try await workers[0].ask("fail cards 2")
        let words = ["hold", "closed"] + choice.words + ["--for", "10s", "--reason", "night shift", "--as", "ann"]
        if choice.words != ["cards"] { #expect(self.run(words, at: here).code == .usage, "nobody can be asked") }
        let result = self.run(words + ["--yes"], at: here)
        #expect(result.code == .done && result.talk.isEmpty, "\(result)")
        for name in ["cards", "cart", "mail"] {
            let isHeld = choice.held.contains(name)
            #expect(result.output.contains("\(name) ") == isHeld)
            // A circuit that is not held trips, or has tripped.
            for worker in workers {
                let reply = try await worker.ask("fail \(name) 3")
                #expect((reply.number("ran") == 3) == isHeld, "\(name): \(reply)")
            }
            let state = try await workers[0].ask("look \(name)")["state"]
            #expect(state == (isHeld ? "held-closed" : "open"))
            guard isHeld else { continue }
            let hold = "hold_by || '/' || hold_reason FROM circuit WHERE name = '\(name)'"
            #expect(try await workers[0].ask("query \(here.store) SELECT \(hold)").description == "row=ann/night shift")
        }
        // What it held goes on in the state beneath.
        let release = self.run(["release"] + choice.words + ["--yes"], at: here)
        #expect(release.code == .done, "\(release)")
        for name in choice.held {
            #expect(try await workers[1].ask("look \(name)")["state"] == (name == "cards" ? "open" : "closed"))
        }
    }

    @Test func aGroupThatNobodyHasHoldsNothing() async throws {
        let here = try Workplace.here
        let workers = try await Self.workers(1, in: here)
        for group in ["shopp", "SHOP", "sho*", "cards"] {
            let result = self.run(["hold", "closed", "--group", group, "--yes"], at: here)
            #expect(result.output.isEmpty && result.talk == "no circuit is of the group '\(group)'\n", "\(result)")
        }
        #expect(self.run(["hold", "closed", "cards", "--group", "shop"], at: here).code == .usage)
        #expect(self.run(["forget", "--group", "shop"], at: here).code == .usage)
        #expect(try await workers[0].ask("look cards")["state"] == "closed")
    }

    /// The rules, the command that makes bad calls, and how many of them trip the circuit.
    struct Rule: Sendable, CustomTestStringConvertible {
        var rules: String
        var bad = "fail users"
        var after = ""
        var trip = 3
        var testDescription: String { self.rules }
    }

    static let rules = [
        Rule(rules: "failures=3"), Rule(rules: "consecutive=3"), Rule(rules: "failures=3 reporters=2"),
        Rule(rules: "rate=0.5 minimum=3"),
        Rule(rules: "failures=1000 slow=10 slow-share=0.5 minimum=3", bad: "slow users", after: " 20"),
    ]

    /// Bad calls of several processes under the hold, and of calls that end only after it.
    @Test(arguments: Self.rules, [true, false])
    func badCallsUnderTheHoldCountForNoRule(rule: Rule, endsByItself: Bool) async throws {
        let here = try Workplace.here
        let workers = try await here.openWorkers(3)
        try await workers.ask("breaker users \(rule.rules)")
        let hanging = try await here.openWorkers(2)
        try await hanging.ask("breaker users \(rule.rules)")
        #expect(try await hanging[0].ask("begin users").number("ran") == 1)
        #expect(self.run(["hold", "closed", "users", "--for", "20s"], at: here).code == .done)
        #expect(try await hanging[1].ask("begin users").number("ran") == 1)
        for worker in workers {
            #expect(try await worker.ask("\(rule.bad) 12\(rule.after)").number("ran") == 12)
            #expect(try await worker.ask("call users 2").number("ran") == 2)
            #expect(try await worker.ask("look users").description.hasPrefix("state=held-closed failures=0 "))
        }
        // One call began before the hold.
        try await hanging[0].ask("finish fail")
        if endsByItself { here.clock.advance(by: .seconds(20)) } else { _ = self.run(["release", "users"], at: here) }
        // The other one ends after the hold.
        try await hanging[1].ask("finish fail")
        for worker in workers {
            #expect(try await worker.ask("look users").description.hasPrefix("state=closed failures=0 "))
        }
        let failed = rule.after.isEmpty ? 38 : 2
        let totals = try await workers[2].ask("totals users")
        #expect(totals.number("failed") == failed && totals.number("succeeded") == 6 + 38 - failed, "\(totals)")
        if !rule.after.isEmpty { #expect((totals.number("slow") ?? 0) >= 36, "\(totals)") }
        let metrics = self.run(["metrics"], at: here).output
        #expect(metrics.contains("result=\"failed\"} \(failed)\n"), "\(metrics)")
        #expect(metrics.contains("result=\"succeeded\"} \(6 + 38 - failed)\n"), "\(metrics)")
        #expect(self.run(["history", "users"], at: here).output.contains("tripped") == false)

        // The rules count from the end of the hold on: one bad call less than they need, then the last one.
        for worker in workers.prefix(rule.trip - 1) {
            #expect(try await worker.ask("\(rule.bad) 1\(rule.after)").number("ran") == 1)
            #expect(try await worker.ask("look users")["state"] == "closed")
        }
        #expect(try await workers[2].ask("\(rule.bad) 1\(rule.after)").number("ran") == 1)
        try await workers[0].ask("until users open")
    }
}

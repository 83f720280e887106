import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// Programs of release 0.1.2 and of this version on one file, in a rolling deployment and back.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct RollingDeploymentTests {
    private static let circuits = [
        ("runs", "consecutive=5"), ("failures", "failures=5"), ("rate", "rate=0.5 minimum=10"),
        ("slow", "failures=5 slow=100 minimum=10"), ("observed", "failures=5 observing"),
    ]

    /// The findings of the doctor that are not well.
    private func findings(_ place: Workplace) throws -> [String] {
        let console = RecordingConsole()
        _ = run(
            arguments: ["doctor", "--json"], environment: ["BREAKER_STORE": place.store], console: console,
            clock: place.clock)
        let document = try JSONSerialization.jsonObject(with: Data(console.output.utf8)) as? [String: Any]
        let findings = try #require(document?["findings"] as? [[String: Any]])
        return findings.filter { $0["status"] as? String == "wrong" }.map { "\($0)" }
    }

    private func older(_ place: Workplace) async throws -> WorkerProcess {
        let worker = try place.start("breaker-worker_0_1_2", [place.clock.path])
        try await worker.ask("open \(place.store)")
        return worker
    }

    private func register(_ worker: WorkerProcess) async throws {
        for (name, rules) in Self.circuits { try await worker.ask("breaker \(name) \(rules) recovery=30") }
    }

    private func registerOlder(_ worker: WorkerProcess, failures: Int) async throws {
        for (name, _) in Self.circuits { try await worker.ask("breaker \(name) failures=\(failures) recovery=30") }
    }

    @Test func nothingIsLostAndAllObey() async throws {
        let place = try Workplace.here
        var olds = [try await self.older(place), try await self.older(place)]
        for old in olds { try await self.registerOlder(old, failures: 6) }
        for (name, _) in Self.circuits { try await olds[0].ask("fail \(name) 2") }
        try await olds[0].ask("hold runs open")
        #expect(try self.findings(place) == [])

        // The first new program comes.
        let new = try await place.openWorker()
        try await self.register(new)
        #expect(try self.findings(place) == [])
        #expect(try await new.ask("look failures").number("counted") == 2)
        #expect(try await new.ask("call runs")["cause"] == "held")
        try await new.ask("release runs")
        for old in olds { #expect(try await old.ask("call runs").number("ran") == 1) }

        // Two and two and one of the newer program.
        try await olds[1].ask("fail failures 2")
        #expect(try await new.ask("look failures").number("counted") == 4)
        #expect(try await new.ask("fail failures 3").number("failed") == 1)
        for old in olds { #expect(try await old.ask("call failures").number("refused") == 1) }
        try await new.ask("fail runs 5")
        for old in olds { #expect(try await old.ask("call runs").number("refused") == 1) }

        // Calls of the older ones are not in the share, nor do they trip by a rule of theirs.
        try await olds[0].ask("call rate 100")
        #expect(try await olds[1].ask("fail rate 30").number("ran") == 30)
        #expect(try await new.ask("recent rate").number("calls") ?? 0 == 0)
        #expect(try await new.ask("fail rate 10").number("failed") == 10)
        try await new.ask("until rate open")
        for old in olds { #expect(try await old.ask("call rate").number("refused") == 1) }
        try await olds[0].ask("call slow 100")
        #expect(try await new.ask("slow slow 10 101").number("ran") == 10)
        try await new.ask("until slow open")
        for old in olds { #expect(try await old.ask("call slow").number("refused") == 1) }

        // What is only observed is open for nobody.
        #expect(try await new.ask("fail observed 100").number("failed") == 100)
        try await new.ask("until observed open")
        for old in olds { #expect(try await old.ask("call observed").number("ran") == 1) }
        #expect(try await new.ask("history observed tripped").number("count") == 1)
        #expect(try self.findings(place) == [])

        // A probe of an older program closes what a share has opened, and its holds are obeyed.
        place.clock.advance(by: .seconds(30))
        for (name, _) in Self.circuits { #expect(try await olds[0].ask("call \(name)").number("ran") == 1, "\(name)") }
        for (name, _) in Self.circuits where name != "observed" {
            #expect(try await new.ask("look \(name)")["state"] == "closed", "\(name)")
            try await olds[1].ask("hold \(name) open")
            #expect(try await new.ask("call \(name)")["cause"] == "held", "\(name)")
            try await new.ask("release \(name)")
        }
        #expect(try await new.ask("fail rate 9").number("failed") == 9)

        // Back: a program of the older release is started, which registers its own configuration.
        olds.append(try await self.older(place))
        try await self.registerOlder(olds[2], failures: 7)
        for (name, _) in Self.circuits {
            try await olds[2].ask("reset \(name)")
            #expect(try await new.ask("fail \(name) 3").number("failed") == 3, "\(name)")
            #expect(try await olds[2].ask("fail \(name) 10").number("ran") == 4, "\(name)")
            #expect(try await new.ask("call \(name)")["cause"] == "open", "\(name)")
        }
        for worker in olds + [new] { #expect(try await worker.ask("health")["health"] == "healthy") }
        #expect(try self.findings(place) == [])
        let totals = try await new.ask("totals rate")
        #expect(totals.number("failed") == 22, "\(totals)")
        #expect(await new.quit() == 0)
        for old in olds { #expect(await old.quit() == 0) }
        #expect(try self.findings(place) == [])

        // And forward again: what was counted is still there.
        let again = try await place.openWorker()
        try await self.register(again)
        #expect(try await again.ask("totals rate").number("failed") == 22)
        #expect(try await again.ask("look rate")["state"] == "open")
        #expect(try await again.ask("history rate tripped").number("count") == 2)
    }
}

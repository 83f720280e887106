#if PostgreSQL
import BreakerFleetTestSupport
import BreakerTestSupport

/// Rounds of chaos, one after the other, on one server and behind one proxy.
///
/// Each round has hosts of its own, whose choices follow from the seed and the round's number alone.
final class FleetChaos {
    private static let (rounds, shortRounds) = (200, 10)

    private let stage: Stage
    private var report: Report { self.stage.report }

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        var only: Int?
        if let text = self.stage.options.only {
            guard let number = Int(text) else { throw Options.Misuse(description: "--only '\(text)' is no round") }
            only = number
        }
        let server = try await PostgresServer()
        do {
            let proxy = try await FleetProxy(to: server)
            let rounds = self.stage.options.isShort ? Self.shortRounds : Self.rounds
            let numbers = only.map { $0...$0 } ?? 1...rounds
            for number in numbers where self.report.goesOn {
                try await self.play(number, server, proxy)
                self.report.add(1, "rounds")
            }
        } catch {
            await server.clear()
            throw error
        }
        await server.clear()
    }

    private func play(_ number: Int, _ server: PostgresServer, _ proxy: FleetProxy) async throws {
        let options = self.stage.options
        let plan = FleetPlan(seed: options.seed &+ UInt64(number) &* 0x9E37_79B9, isShort: options.isShort)
        let round = try FleetRound(
            plan, in: "\(self.stage.directory)/\(number)", on: server, through: proxy, self.report)
        do {
            try await round.run()
        } catch {
            round.violated("the harness itself failed: \(error)")
        }
        await round.clear()
        guard !round.violations.isEmpty else { return }
        let length = options.isShort ? " SHORT=1" : ""
        let repeated = "repeat it by: make torture PART=fleet SEED=\(options.seed) ONLY=\(number)\(length)"
        for what in round.violations { self.report.violated("round \(number): \(what); \(repeated)") }
        Report.say(round.story.map { "    \($0)" }.joined(separator: "\n"))
    }
}
#endif

#if PostgreSQL
import BreakerFleetTestSupport
import BreakerTestSupport

/// Rounds of chaos, one after the other, on one server and behind one proxy.
///
/// Each round has hosts of its own, whose choices follow from the seed and the round's number alone.
final class FleetChaos {
    private static let (rounds, shortRounds) = (200, 10)

    static let stuck = "circuits stuck"

    private let stage: Stage
    private var report: Report { self.stage.report }

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        let numbers = try self.numbers()
        self.report.add(0, Self.stuck)
        let server = try await PostgresServer()
        do {
            let proxy = try await FleetProxy(to: server)
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

    /// Which rounds: `7` or `7-12` for some.
    private func numbers() throws -> ClosedRange<Int> {
        guard let text = self.stage.options.only else {
            return 1...(self.stage.options.isShort ? Self.shortRounds : Self.rounds)
        }
        let words = text.split(separator: "-").map { Int($0) ?? 0 }
        guard let first = words.first, let last = words.last, words.count <= 2, 1 <= first, first <= last else {
            throw Options.Misuse(description: "--only '\(text)' names no round of fleet")
        }
        return first...last
    }

    private func play(_ number: Int, _ server: PostgresServer, _ proxy: FleetProxy) async throws {
        let options = self.stage.options
        let plan = FleetPlan(seed: options.seed &+ UInt64(number) &* 0x9E37_79B9, isShort: options.isShort)
        let round = try FleetRound(
            plan, in: "\(self.stage.directory)/\(number)", on: server, through: proxy, self.report)
        do {
            try await round.run()
        } catch {
            round.violated("it did not get to its end: \(error)")
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

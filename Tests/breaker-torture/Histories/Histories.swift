import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What callers of all processes were told, held against one circuit that was asked one call after the other.
struct Histories {
    private static let (goal, shortGoal, faultyGoal) = (2_000, 60, 50)

    private let stage: Stage

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        let options = self.stage.options
        let goal = options.isShort ? options.planted == nil ? Self.shortGoal : Self.faultyGoal : Self.goal
        var random = SeededRandom(seed: options.seed)
        var number = 0
        while self.stage.report.goesOn {
            if options.duration == nil, self.stage.report.count(of: "histories") >= goal { break }
            let era = try HistoryEra(self.stage, number, goal: goal, seed: random.next())
            number += 1
            do { try await era.run() } catch {
                await era.end()
                throw error
            }
            await era.end()
        }
        let report = self.stage.report
        if report.count(of: "calls") <= report.count(of: "unknown") {
            report.violated("of no call the answer is known")
        }
        // A search that gives up says nothing; now and then one does.
        if report.count(of: "undecided") > 3 + report.count(of: "histories") / 100 {
            report.violated("too many histories are undecided")
        }
    }
}

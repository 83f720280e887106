import BreakerTestSupport

/// Halts processes where it hurts most: nobody waits beyond a deadline, and whoever goes on applies nothing of the
/// past.
struct Scheduling {
    private static let rounds = 25

    private let stage: Stage
    private var report: Report { self.stage.report }

    init(_ stage: Stage) { self.stage = stage }

    func run() async throws {
        #if BREAKERSTORE_HOOKS
        let trio = try Trio(self.stage)
        defer { trio.clear() }
        while self.report.goesOn, self.report.count(of: "rounds") < (self.stage.options.isShort ? 1 : Self.rounds) {
            for halt in Halt.all where self.report.goesOn {
                try await trio.begin(halt.name)
                do {
                    try await halt.play(trio)
                } catch {
                    self.report.violated("\(halt.name): \(error)")
                }
                try await trio.end()
                self.report.add(1, "halts")
            }
            self.report.add(1, "rounds")
        }
        if !self.stage.options.isShort, self.report.goesOn { try await Halt.openingLosesPatience.play(trio) }
        #else
        self.report.violated("a release build has no hooks to halt a process at")
        #endif
    }
}

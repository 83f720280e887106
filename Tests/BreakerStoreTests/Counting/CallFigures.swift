import BreakerTestSupport
import Testing

/// How long the calls of a worker took while something happened to its files.
struct CallFigures: CustomStringConvertible {
    private let reply: Reply

    var description: String { self.reply.description }
    /// The microseconds of the longest healthy call.
    private var longest: Int { self.reply.number("longest") ?? .max }
    /// The microseconds that all but one of a thousand healthy calls stay below.
    private var percentile: Int { self.reply.number("p999") ?? .max }
    /// The milliseconds of the longest failing one.
    private var longestFailing: Int { self.reply.number("longest-failing") ?? .max }

    static func measure(_ worker: WorkerProcess, _ name: String, for milliseconds: Int) async throws -> CallFigures {
        CallFigures(reply: try await worker.ask("measure \(name) \(milliseconds)"))
    }

    /// Of a thousand calls one may have waited for a lock whose holder waited for a processor; none may have waited for
    /// the file system.
    ///
    /// - Parameters:
    ///   - patience: the milliseconds of `busyTimeout`.
    ///   - most: by how many microseconds the percentile may be above the one before.
    func expectAsGood(as before: CallFigures, within patience: Int, most: Int = 5_000) {
        #expect(self.percentile <= before.percentile + most, "healthy: \(self); before: \(before)")
        #expect(self.longest <= before.longest + 500_000, "healthy: \(self); before: \(before)")
        // A busy machine is no failure: a second more.
        #expect(self.longestFailing <= patience + 1_000, "failing: \(self)")
        #expect(self.reply.number("strange") == 0, "\(self)")
        #expect(self.reply.number("calls") ?? 0 > 10_000, "\(self)")
    }
}

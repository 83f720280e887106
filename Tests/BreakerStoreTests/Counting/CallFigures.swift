import BreakerTestSupport
import Testing

/// How long the calls of a worker took while something happened to its files.
struct CallFigures: CustomStringConvertible {
    private let reply: Reply

    var description: String { self.reply.description }
    /// The microseconds of the longest healthy call.
    private var longest: Int { self.reply.number("longest") ?? .max }
    /// The milliseconds of the longest failing one.
    private var longestFailing: Int { self.reply.number("longest-failing") ?? .max }

    static func measure(_ worker: WorkerProcess, _ name: String, for milliseconds: Int) async throws -> CallFigures {
        CallFigures(reply: try await worker.ask("measure \(name) \(milliseconds)"))
    }

    /// No call has hung, and each failing one has had its own error.
    ///
    /// How long calls take is the bench's to tell, not a test's: a machine may be busy.
    ///
    /// - Parameter harm: so long no call could have ended that waited for the file system.
    func expectNoWait(during harm: Duration = .seconds(60)) {
        #expect(.microseconds(self.longest) < harm, "healthy: \(self)")
        #expect(.milliseconds(self.longestFailing) < .seconds(60), "failing: \(self)")
        #expect(self.reply.number("strange") == 0, "\(self)")
        #expect(self.reply.number("calls") ?? 0 > 0, "\(self)")
    }
}

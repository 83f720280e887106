import BreakerTestSupport
import Testing

/// What became of the calls of a worker while something happened to its files.
struct CallFigures: CustomStringConvertible {
    private let reply: Reply

    var description: String { self.reply.description }
    static func measure(_ worker: WorkerProcess, _ name: String, for milliseconds: Int) async throws -> CallFigures {
        CallFigures(reply: try await worker.ask("measure \(name) \(milliseconds)"))
    }

    /// All calls have come back, or the worker would not have answered, and each failing one has had its own error.
    ///
    /// How long calls take is the bench's to tell, not a test's: a machine may be busy.
    func expectOwnEnds() {
        #expect(self.reply.number("strange") == 0, "\(self)")
        #expect(self.reply.number("calls") ?? 0 > 0, "\(self)")
    }
}

import BreakerStore

/// An async call whose operation hangs until it is told how to end.
struct HungCall: Sendable {
    enum Ending: String {
        case succeed, fail, ignore, cancel
    }

    /// An error that is no failure.
    struct Ignored: Error {}

    private let endings: AsyncStream<Ending>.Continuation
    private let task: Task<String, Never>

    /// Returns once the operation runs, or the refusal.
    static func begin(_ breaker: CircuitBreaker) async -> (HungCall, CircuitOpenError?) {
        let (endings, continuation) = AsyncStream.makeStream(of: Ending.self)
        let (starts, started) = AsyncStream.makeStream(of: CircuitOpenError?.self)
        let task = Task.detached {
            do {
                try await breaker.run {
                    started.yield(nil)
                    try await Self.hang(endings)
                }
                return "returned"
            } catch let error as CircuitOpenError {
                started.yield(error)
                return "refused"
            } catch {
                return "\(type(of: error))"
            }
        }
        let refusal = await starts.first { _ in true } ?? nil
        return (HungCall(endings: continuation, task: task), refusal)
    }

    private static func hang(_ endings: AsyncStream<Ending>) async throws {
        // A stream of a cancelled task ends.
        switch await endings.first(where: { _ in true }) {
        case .succeed: return
        case .fail: throw Boom()
        case .ignore: throw Ignored()
        case .cancel, nil: throw CancellationError()
        }
    }

    /// Ends the operation; returns how its caller saw the call end.
    func end(_ ending: Ending) async -> String {
        switch ending {
        case .succeed, .fail, .ignore: self.endings.yield(ending)
        case .cancel: self.task.cancel()
        }
        return await self.task.value
    }
}

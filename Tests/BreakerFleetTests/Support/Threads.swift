#if PostgreSQL
import BreakerTestSupport
import Foundation

/// Threads that do the same at once: what blocks must not fill the pool of the tasks.
struct Threads: Sendable {
    let body: @Sendable (Int) throws -> Bool

    init(_ body: @escaping @Sendable (Int) throws -> Bool) { self.body = body }

    /// Runs the body on so many threads, which it is told the number of; returns how many said yes.
    func run(_ count: Int) async throws -> Int {
        let results = AsyncStream<Result<Bool, any Error>> { stream in
            let left = Locked(count)
            for number in 0..<count {
                Thread.detachNewThread {
                    stream.yield(Result { try self.body(number) })
                    let isLast = left.withLock { left in
                        left -= 1
                        return left == 0
                    }
                    if isLast { stream.finish() }
                }
            }
        }
        var found = 0
        for await result in results where try result.get() { found += 1 }
        return found
    }
}
#endif

/// Makes calls with a deadline; neither operation nor value need be Sendable.
enum TimedCall {
    /// Carries the operation into a child task, and its value back.
    ///
    /// Sendable though its content need not be: one thread at a time touches the content. The child task hops to the
    /// caller's actor before it touches the operation. The caller is suspended until the child has ended. Nobody else
    /// has the box.
    private struct Box<Content>: @unchecked Sendable {
        let content: Content
    }

    private enum First<T> {
        case ended(Box<Result<T, any Error>>)
        case deadline
        /// The timer was cancelled, because the caller's task was.
        case timerEnded
    }

    /// Runs `operation`; nil if the deadline came first.
    ///
    /// At the deadline, `onDeadline` is awaited; then the operation is cancelled, and waited for.
    static func run<T>(
        _ operation: () async throws -> T,
        within timeout: Duration,
        by clock: any HostClock,
        onDeadline: () async -> Void,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> T? {
        try await withoutActuallyEscaping(operation) { operation in
            let boxed = Box(content: operation)
            return try await withThrowingTaskGroup(of: First<T>.self) { group in
                group.addTask { .ended(await Self.call(boxed, on: isolation)) }
                group.addTask {
                    do {
                        try await clock.sleep(for: timeout)
                        return .deadline
                    } catch {
                        return .timerEnded
                    }
                }
                while let first = try await group.next() {
                    switch first {
                    case .ended(let result):
                        group.cancelAll()
                        return try result.content.get()
                    case .timerEnded:
                        continue
                    case .deadline:
                        await onDeadline()
                        group.cancelAll()
                        while try await group.next() != nil {}
                        return nil
                    }
                }
                return nil
            }
        }
    }

    private static func call<T>(
        _ operation: Box<() async throws -> T>,
        on isolation: isolated (any Actor)?
    ) async -> Box<Result<T, any Error>> {
        do {
            return Box(content: .success(try await operation.content()))
        } catch {
            return Box(content: .failure(error))
        }
    }
}

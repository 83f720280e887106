/// Makes calls with a deadline; neither the operation nor its captures need be Sendable.
///
/// Nothing here is generic: the operation itself keeps its value. A generic function would cost as much again as the
/// child task.
enum TimedCall {
    typealias Operation = () async throws -> Void

    /// Carries the operation over to a child task.
    ///
    /// Sendable though its content need not be: one thread at a time touches the content. The child task hops to the
    /// caller's actor before it touches the operation. The caller is suspended until the child has ended. No other code
    /// has the box.
    private struct Box: @unchecked Sendable {
        let operation: Operation
    }

    /// Runs `operation`; returns whether it ended before the deadline.
    ///
    /// At the deadline, `onDeadline` is awaited; then the operation is cancelled, and its end is awaited. Once the
    /// caller's task is cancelled, the deadline no longer applies.
    /// - Parameter timer: wakes the caller at the deadline.
    static func run(
        _ operation: Operation,
        within timeout: Duration,
        by timer: SharedTimer,
        onDeadline: () async -> Void,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Bool {
        let (isInTime, error) = await withoutActuallyEscaping(operation) { operation in
            let boxed = Box(operation: operation)
            return await withTaskGroup(of: (any Error)?.self) { group in
                let isEnded = await timer.wait(for: timeout) { key in
                    group.addTask {
                        let error = await Self.call(boxed, on: isolation)
                        timer.end(key)
                        return error
                    }
                }
                if isEnded || Task.isCancelled { return (true, await group.next() ?? nil) }
                await onDeadline()
                group.cancelAll()
                // The group waits for the operation's end.
                return (false, nil)
            }
        }
        if let error { throw error }
        return isInTime
    }

    /// Runs `operation` like the form with a timer; a child task sleeps by `clock` until the deadline.
    static func run(
        _ operation: Operation,
        within timeout: Duration,
        by clock: any HostClock,
        onDeadline: () async -> Void,
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> Bool {
        enum First {
            case ended((any Error)?)
            case deadline
            /// The sleeper was cancelled, because the caller's task was.
            case sleeperEnded
        }
        let (isInTime, error) = await withoutActuallyEscaping(operation) { operation in
            let boxed = Box(operation: operation)
            return await withTaskGroup(of: First.self) { group in
                group.addTask { .ended(await Self.call(boxed, on: isolation)) }
                group.addTask {
                    do {
                        try await clock.sleep(for: timeout)
                        return .deadline
                    } catch {
                        return .sleeperEnded
                    }
                }
                while let first = await group.next() {
                    switch first {
                    case .ended(let error):
                        group.cancelAll()
                        return (true, error)
                    case .sleeperEnded:
                        continue
                    case .deadline:
                        await onDeadline()
                        group.cancelAll()
                        return (false, nil)
                    }
                }
                return (true, nil)
            }
        }
        if let error { throw error }
        return isInTime
    }

    private static func call(_ boxed: Box, on isolation: isolated (any Actor)?) async -> (any Error)? {
        do {
            try await boxed.operation()
            return nil
        } catch {
            return error
        }
    }
}

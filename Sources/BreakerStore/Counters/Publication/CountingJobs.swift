import Synchronization

/// The thread for counting that may block: it adds failed and slow calls of tasks to the board, and reads which workers
/// use a circuit.
///
/// A task must not wait for a file system that hangs, and the counting thread must not block at all. The thread is
/// started when it is first needed.
final class CountingJobs: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isStarted = false
        var isStopped = false
    }

    private let state = Mutex(State(), rank: .leaf)
    private let thread = StoreThread()
    private let forks = ForkRecord.forks

    /// Runs `body` on the thread; returns nil if the deadline is over first.
    ///
    /// Then `body` still runs, and `late` gets its value.
    func value<Value: Sendable>(
        until deadline: Deadline, by timer: @autoclosure () -> SharedTimer,
        late: @escaping @Sendable (Value) -> Void = { _ in }, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        // A child of `fork` has no thread, and starts no task.
        guard !ForkRecord.isForked(since: self.forks) else { return body() }
        let timer = timer()
        let result = JobResult<Value>()
        let isInTime = await timer.wait(for: deadline.remaining) { wait in
            self.run {
                let value = body()
                result.value.withLock { $0 = value }
                if !timer.end(wait) { late(value) }
            }
        }
        return isInTime ? result.value.withLock { $0 } : nil
    }

    /// Runs `body` on the thread without waiting for it; on the caller's thread if the thread is stopped or can't be
    /// started.
    func run(_ body: @escaping @Sendable () -> Void) {
        guard !ForkRecord.isForked(since: self.forks) else { return body() }
        enum Action { case wake, start, runHere }
        let action = self.state.withLock { state -> Action in
            guard !state.isStopped else { return .runHere }
            state.jobs.append(body)
            defer { state.isStarted = true }
            return state.isStarted ? .wake : .start
        }
        switch action {
        case .wake: self.thread.wake()
        case .runHere: body()
        case .start:
            if self.thread.start({ self.loop() }) { return }
            // The system has no thread left: the next caller tries again.
            for job in self.drainJobs(isStarted: false) { job() }
        }
    }

    /// Ends the thread once its jobs are done.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.thread.wake()
    }

    private func drainJobs(isStarted: Bool) -> [@Sendable () -> Void] {
        self.state.withLock { state in
            defer { state.jobs = [] }
            state.isStarted = isStarted
            return state.jobs
        }
    }

    private func loop() {
        while true {
            let isStopped = self.state.withLock { $0.isStopped }
            let jobs = self.drainJobs(isStarted: true)
            for job in jobs { job() }
            if !jobs.isEmpty { continue }
            if isStopped { return }
            self.thread.sleep(until: nil)
        }
    }
}

/// The result of a job, for the task that waits for it.
private final class JobResult<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil, rank: .leaf)
}

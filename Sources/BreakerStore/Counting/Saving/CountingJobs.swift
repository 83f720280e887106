import Synchronization

/// The thread for counting that may wait: it adds failing and slow outcomes of tasks to the board, and asks who uses a
/// circuit.
///
/// Tasks must not wait for a file system that hangs, and the thread that counts must not wait at all. The thread is
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

    /// Runs `body` on the thread; returns nil if the deadline comes first.
    ///
    /// `body` runs all the same, and then `late` gets its value.
    func value<Value: Sendable>(
        until deadline: Deadline, by timer: @autoclosure () -> SharedTimer,
        late: @escaping @Sendable (Value) -> Void = { _ in }, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        // A child of `fork` has no thread, and starts no task.
        guard self.forks == ForkRecord.forks else { return body() }
        let timer = timer()
        let made = Made<Value>()
        let isInTime = await timer.wait(for: deadline.remaining) { wait in
            self.run {
                let value = body()
                made.value.withLock { $0 = value }
                if !timer.end(wait) { late(value) }
            }
        }
        return isInTime ? made.value.withLock { $0 } : nil
    }

    /// Runs `body` on the thread without waiting for it; on the caller's thread if this thread can't run it.
    func run(_ body: @escaping @Sendable () -> Void) {
        guard self.forks == ForkRecord.forks else { return body() }
        enum Next { case nothing, start, runHere }
        let next = self.state.withLock { state -> Next in
            guard !state.isStopped else { return .runHere }
            state.jobs.append(body)
            defer { state.isStarted = true }
            return state.isStarted ? .nothing : .start
        }
        switch next {
        case .nothing: self.thread.wake()
        case .runHere: body()
        case .start:
            if self.thread.start({ self.loop() }) { return }
            // No thread is left: the next caller tries again.
            for job in self.takeJobs(isStarted: false) { job() }
        }
    }

    /// Ends the thread once its jobs are done.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.thread.wake()
    }

    private func takeJobs(isStarted: Bool) -> [@Sendable () -> Void] {
        self.state.withLock { state in
            defer { state.jobs = [] }
            state.isStarted = isStarted
            return state.jobs
        }
    }

    private func loop() {
        while true {
            let isStopped = self.state.withLock { $0.isStopped }
            let jobs = self.takeJobs(isStarted: true)
            for job in jobs { job() }
            if !jobs.isEmpty { continue }
            if isStopped { return }
            self.thread.sleep(until: nil)
        }
    }
}

/// The value of a job, for the task that waits for it.
private final class Made<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil, rank: .leaf)
}

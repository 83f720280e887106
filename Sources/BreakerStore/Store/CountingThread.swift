import Synchronization

/// A thread that adds to the board for tasks, which must not wait for a file system that hangs.
///
/// The thread also looks at windows whose ticks are shorter than the second after which the store's own thread looks
/// again. It is started when it is first needed.
final class CountingThread: Sendable {
    /// Work for the thread.
    ///
    /// If a task waits for the work, the task goes on when the work is done or the deadline is over.
    private final class Job: Sendable {
        /// Nil if nobody waits.
        let deadline: Deadline?
        private let run: @Sendable () -> Void
        private let giveUp: @Sendable () -> Void

        init(_ deadline: Deadline?, run: @escaping @Sendable () -> Void, giveUp: @escaping @Sendable () -> Void) {
            self.deadline = deadline
            self.run = run
            self.giveUp = giveUp
        }

        func perform() { self.run() }
        func end() { self.giveUp() }
    }

    private struct State {
        var jobs: [Job] = []
        /// The jobs that the thread does just now.
        var running: [Job] = []
        var isStarted = false
        var isStopped = false
        /// Whether a task sleeps until the next deadline of a job.
        var isWatched = false
        /// Until when the thread looks at the windows.
        var ticksUntil: ContinuousClock.Instant?
        var interval = Duration.seconds(1)
    }

    private let state = Mutex(State(), rank: .leaf)
    private let thread = StoreThread()
    private let forks = ForkRecord.forks

    // MARK: - Jobs

    /// Runs `body` on the thread; returns nil if the deadline comes first, and `body` runs all the same.
    func value<Value: Sendable>(
        until deadline: Deadline, _ tick: @escaping @Sendable () -> Void, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let isOver = Once()
            self.post(
                Job(
                    deadline,
                    run: {
                        let value = body()
                        if isOver.isFirst { continuation.resume(returning: value) }
                    },
                    giveUp: { if isOver.isFirst { continuation.resume(returning: nil) } }
                ), tick)
        }
    }

    /// Runs `body` on the thread; nobody waits for it.
    func run(_ tick: @escaping @Sendable () -> Void, _ body: @escaping @Sendable () -> Void) {
        self.post(Job(nil, run: body, giveUp: {}), tick)
    }

    private func post(_ job: Job, _ tick: @escaping @Sendable () -> Void) {
        guard self.forks == ForkRecord.forks else { return job.perform() }
        enum Next { case nothing, start, runHere }
        let (next, watches) = self.state.withLock { state -> (Next, Bool) in
            guard !state.isStopped else { return (.runHere, false) }
            state.jobs.append(job)
            let watches = job.deadline != nil && !state.isWatched
            if watches { state.isWatched = true }
            defer { state.isStarted = true }
            return (state.isStarted ? .nothing : .start, watches)
        }
        switch next {
        case .nothing: self.thread.wake()
        case .runHere: return job.perform()
        case .start: self.start(tick)
        }
        if watches, let deadline = job.deadline { self.watch(until: deadline) }
    }

    private func start(_ tick: @escaping @Sendable () -> Void) {
        guard !self.thread.start({ self.loop(tick) }) else { return }
        // The system has no thread left: callers do their jobs themselves.
        let jobs = self.state.withLock { state in
            state.isStopped = true
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { job.perform() }
    }

    /// Lets tasks go on whose deadline is over; one sleeping task does so for all jobs.
    private func watch(until deadline: Deadline) {
        Task.detached { [weak self] in
            try? await Task.sleep(for: deadline.remaining)
            guard let self else { return }
            let now = ContinuousClock.now
            let (over, next) = self.state.withLock { state in
                let all = state.running + state.jobs
                let next = all.compactMap(\.deadline).filter { !$0.isOver(at: now) }.min()
                state.isWatched = next != nil
                return (all.filter { $0.deadline?.isOver(at: now) ?? false }, next)
            }
            for job in over { job.end() }
            if let next { self.watch(until: next) }
        }
    }

    // MARK: - The thread

    /// Looks at the windows every `interval` from now on, until this function was not called for `duration`.
    func look(every interval: Duration, for duration: Duration, _ tick: @escaping @Sendable () -> Void) {
        guard self.forks == ForkRecord.forks else { return }
        let starts = self.state.withLock { state in
            guard !state.isStopped else { return false }
            state.interval = interval
            state.ticksUntil = .now + duration
            defer { state.isStarted = true }
            return !state.isStarted
        }
        if starts { self.start(tick) } else { self.thread.wake() }
    }

    /// The thread ends once its jobs are done.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.thread.wake()
    }

    private func loop(_ tick: @escaping @Sendable () -> Void) {
        var nextTick = ContinuousClock.now
        while true {
            let (done, jobs, isStopped, tickUntil, interval) = self.state.withLock { state in
                let done = state.running
                state.running = state.jobs
                state.jobs = []
                return (done, state.running, state.isStopped, state.ticksUntil, state.interval)
            }
            // Outside of the lock: objects that are let go of with a job may take locks of their own.
            _ = consume done
            for job in jobs { job.perform() }
            let now = ContinuousClock.now
            let ticks = !isStopped && tickUntil.map { now < $0 } ?? false
            // A tick comes in time however many jobs there are: other circuits have windows, too.
            if ticks, nextTick <= now {
                tick()
                nextTick = max(nextTick + interval, now)
            }
            if !jobs.isEmpty { continue }
            if isStopped { return }
            self.thread.sleep(until: ticks ? nextTick : nil)
            if !ticks { nextTick = .now }
        }
    }
}

/// Tells the first thread that asks from all later ones.
private final class Once: Sendable {
    private let isOver = Atomic<Bool>(false)

    var isFirst: Bool { !self.isOver.exchange(true, ordering: .acquiringAndReleasing) }
}

import Synchronization

/// A thread that adds to the board for tasks, which must not wait for a file system that hangs.
///
/// The thread also publishes the calls of circuits with rules about shares, and looks at their windows. It waits for no
/// commit, so that it does so in time. It is started when it is first needed.
final class CountingThread: Sendable {
    /// What is done now and then; returns after how long to do so again, or nil if there is nothing to do any more.
    typealias Tick = @Sendable () -> Duration?

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
        /// When the thread ticks next; nil if nobody has asked for a tick since the last one.
        var nextTick: ContinuousClock.Instant?

        /// Notes when a tick is asked for; returns whether that is earlier than the next one.
        mutating func tick(at time: ContinuousClock.Instant) -> Bool {
            if let next = self.nextTick, next <= time { return false }
            self.nextTick = time
            return true
        }

        mutating func takeTick(at now: ContinuousClock.Instant) -> Bool {
            guard !self.isStopped, let next = self.nextTick, next <= now else { return false }
            self.nextTick = nil
            return true
        }
    }

    private let state = Mutex(State(), rank: .leaf)
    private let thread = StoreThread()
    private let forks = ForkRecord.forks

    // MARK: - Jobs

    /// Runs `body` on the thread; returns nil if the deadline comes first.
    ///
    /// `body` runs all the same, and `late` is told its value.
    func value<Value: Sendable>(
        until deadline: Deadline, _ tick: @escaping Tick, late: @escaping @Sendable (Value) -> Void = { _ in },
        _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let once = Once()
            self.post(
                Job(
                    deadline,
                    run: {
                        let value = body()
                        if once.take() { continuation.resume(returning: value) } else { late(value) }
                    },
                    giveUp: { if once.take() { continuation.resume(returning: nil) } }
                ), tick)
        }
    }

    /// Runs `body` on the thread; nobody waits for it.
    func run(_ tick: @escaping Tick, _ body: @escaping @Sendable () -> Void) {
        self.post(Job(nil, run: body, giveUp: {}), tick)
    }

    private func post(_ job: Job, _ tick: @escaping Tick) {
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

    /// Returns false if the system has no thread left: then callers do their jobs themselves, and the next asks again.
    @discardableResult
    private func start(_ tick: @escaping Tick) -> Bool {
        // The runtime makes the types of a tick at the first one, under locks of its own. A child of `fork` would wait
        // for ever for a lock that another thread had just then, so the first tick is the caller's.
        _ = tick()
        if self.thread.start({ self.loop(tick) }) { return true }
        let jobs = self.state.withLock { state in
            state.isStarted = false
            state.nextTick = nil
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { job.perform() }
        return false
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

    /// Ticks after so long, or earlier if that was asked for; how it goes on from there the tick says.
    ///
    /// Returns false if the thread can't be started, or has been stopped.
    @discardableResult
    func tick(in duration: Duration, _ tick: @escaping Tick) -> Bool {
        guard self.forks == ForkRecord.forks else { return false }
        enum Next { case nothing, wake, start, isStopped }
        let next = self.state.withLock { state -> Next in
            if state.isStopped { return .isStopped }
            let isEarlier = state.tick(at: .now + duration)
            defer { state.isStarted = true }
            return state.isStarted ? isEarlier ? .wake : .nothing : .start
        }
        switch next {
        case .nothing: break
        case .wake: self.thread.wake()
        case .isStopped: return false
        case .start: return self.start(tick)
        }
        return true
    }

    /// The thread ends once its jobs are done.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.thread.wake()
    }

    private func loop(_ tick: @escaping Tick) {
        while true {
            let (done, jobs, ticks, isStopped) = self.state.withLock { state in
                let done = state.running
                state.running = state.jobs
                state.jobs = []
                // A tick comes in time however many jobs there are: other circuits have windows, too.
                return (done, state.running, state.takeTick(at: .now), state.isStopped)
            }
            // Outside of the lock: objects that are let go of with a job may take locks of their own.
            _ = consume done
            for job in jobs { job.perform() }
            if ticks {
                let began = ContinuousClock.now
                if let interval = tick() {
                    // However many circuits there are, the thread sleeps for half of the time.
                    let end = ContinuousClock.now
                    let next = max(began + interval, end + began.duration(to: end))
                    self.state.withLock { _ = $0.tick(at: next) }
                }
            }
            if !jobs.isEmpty || ticks { continue }
            if isStopped { return }
            self.thread.sleep(until: self.state.withLock { $0.nextTick })
        }
    }
}

/// Tells the first thread that asks from all later ones.
private final class Once: Sendable {
    private let isTaken = Atomic<Bool>(false)

    /// True for the first caller alone.
    func take() -> Bool { !self.isTaken.exchange(true, ordering: .acquiringAndReleasing) }
}

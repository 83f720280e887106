import Synchronization

/// The thread that counts: it waits for no commit, so that its work is done in time.
///
/// Each round of its loop does this, in this order:
/// 1. It adds failing and slow ends to the board for tasks, which must not wait for a file system that hangs.
/// 2. In a tick of the thread, every 50 ms or sooner, it publishes the good ends of circuits with rules about shares.
/// 3. In the same tick, with these ends, it looks again at each share whose suspicion has ended. If the share is still
///    reached, the store's thread opens the circuit.
///
/// The thread is started when it is first needed.
final class CountingThread: Sendable {
    /// The periodic work, no part of a window; returns the time until the next tick, or nil if no work is left.
    typealias Tick = @Sendable () -> Duration?

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isStarted = false
        var isStopped = false
        /// When the thread ticks next; nil if no tick was asked for since the last.
        var nextTick: ContinuousClock.Instant?

        /// Notes that a tick is asked for; returns whether its time is earlier than that of the next tick.
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
    /// `body` runs all the same, and then `late` gets its value.
    func value<Value: Sendable>(
        until deadline: Deadline, by timer: @autoclosure () -> SharedTimer, _ tick: @escaping Tick,
        late: @escaping @Sendable (Value) -> Void = { _ in }, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        // A child of `fork` has no thread, and starts no task.
        guard self.forks == ForkRecord.forks else { return body() }
        let timer = timer()
        let made = Made<Value>()
        let isInTime = await timer.wait(for: deadline.remaining) { wait in
            self.run(tick) {
                let value = body()
                made.value.withLock { $0 = value }
                if !timer.end(wait) { late(value) }
            }
        }
        return isInTime ? made.value.withLock { $0 } : nil
    }

    /// Runs `body` on the thread without waiting for it; on the caller's thread if this thread can't run it.
    func run(_ tick: @escaping Tick, _ body: @escaping @Sendable () -> Void) {
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
        case .start: self.start(tick)
        }
    }

    /// Starts the thread; if no thread is left, runs the waiting jobs and returns false: the next caller tries again.
    @discardableResult
    private func start(_ tick: @escaping Tick) -> Bool {
        // The first tick runs on the caller's thread: in it the runtime makes the tick's types, under locks of its own.
        // If another thread did that during a `fork`, the child would wait forever for such a lock.
        _ = tick()
        if self.thread.start({ self.loop(tick) }) { return true }
        let jobs = self.state.withLock { state in
            state.isStarted = false
            state.nextTick = nil
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { job() }
        return false
    }

    // MARK: - The thread

    /// Asks for a tick after so long, or keeps an earlier tick that was asked for before.
    ///
    /// From then on each tick says when the next is due. Returns false if the thread can't be started, or has been
    /// stopped.
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

    /// Ends the thread once its jobs are done.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.thread.wake()
    }

    private func loop(_ tick: @escaping Tick) {
        while true {
            let (jobs, ticks, isStopped) = self.state.withLock { state in
                defer { state.jobs = [] }
                // A tick waits for one batch of jobs at most: other circuits have windows, too.
                return (state.jobs, state.takeTick(at: .now), state.isStopped)
            }
            for job in jobs { job() }
            if ticks {
                let began = ContinuousClock.now
                if let interval = tick() {
                    // The thread sleeps at least half of the time, however many circuits there are.
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

/// The value of a job, for the task that waits for it.
private final class Made<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil, rank: .leaf)
}

import Synchronization

/// The thread that counts: it waits for no commit, so that its work is done in time.
///
/// Each pass of its one loop does this, in this order:
/// 1. It runs the jobs that wait: they add failing and slow ends to the board for tasks, which must not wait for a file
///    system that hangs.
/// 2. If a round is due, every 50 ms or sooner, it publishes the good ends of circuits with rules about shares.
/// 3. In the same round, with these ends, it checks each share again whose suspicion has ended. If the share is still
///    reached, the store's thread opens the circuit.
///
/// The thread is started when it is first needed.
final class CountingThread: Sendable {
    /// The thread's periodic work: publish, then check suspicions.
    ///
    /// Returns the time until the next round, or nil if no work is left.
    typealias Round = @Sendable () -> Duration?

    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isStarted = false
        var isStopped = false
        /// When the thread does its next round; nil if no round was asked for since the last.
        var nextRound: ContinuousClock.Instant?

        /// Notes that a round is asked for; returns whether its time is earlier than that of the next round.
        mutating func askForRound(at time: ContinuousClock.Instant) -> Bool {
            if let next = self.nextRound, next <= time { return false }
            self.nextRound = time
            return true
        }

        mutating func takeRound(at now: ContinuousClock.Instant) -> Bool {
            guard !self.isStopped, let next = self.nextRound, next <= now else { return false }
            self.nextRound = nil
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
        until deadline: Deadline, by timer: @autoclosure () -> SharedTimer, _ round: @escaping Round,
        late: @escaping @Sendable (Value) -> Void = { _ in }, _ body: @escaping @Sendable () -> Value
    ) async -> Value? {
        // A child of `fork` has no thread, and starts no task.
        guard self.forks == ForkRecord.forks else { return body() }
        let timer = timer()
        let made = Made<Value>()
        let isInTime = await timer.wait(for: deadline.remaining) { wait in
            self.run(round) {
                let value = body()
                made.value.withLock { $0 = value }
                if !timer.end(wait) { late(value) }
            }
        }
        return isInTime ? made.value.withLock { $0 } : nil
    }

    /// Runs `body` on the thread without waiting for it; on the caller's thread if this thread can't run it.
    func run(_ round: @escaping Round, _ body: @escaping @Sendable () -> Void) {
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
        case .start: self.start(round)
        }
    }

    /// Starts the thread; if no thread is left, runs the waiting jobs and returns false: the next caller tries again.
    @discardableResult
    private func start(_ round: @escaping Round) -> Bool {
        // The first round runs on the caller's thread: in it the runtime makes the round's types, under its own locks.
        // If another thread did that during a `fork`, the child would wait forever for such a lock.
        _ = round()
        if self.thread.start({ self.loop(round) }) { return true }
        let jobs = self.state.withLock { state in
            state.isStarted = false
            state.nextRound = nil
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { job() }
        return false
    }

    // MARK: - The thread

    /// Asks for a round after so long, or keeps an earlier round that was asked for before.
    ///
    /// From then on each round says when the next is due. Returns false if the thread can't be started, or has been
    /// stopped.
    @discardableResult
    func askForRound(in duration: Duration, _ round: @escaping Round) -> Bool {
        guard self.forks == ForkRecord.forks else { return false }
        enum Next { case nothing, wake, start, isStopped }
        let next = self.state.withLock { state -> Next in
            if state.isStopped { return .isStopped }
            let isEarlier = state.askForRound(at: .now + duration)
            defer { state.isStarted = true }
            return state.isStarted ? isEarlier ? .wake : .nothing : .start
        }
        switch next {
        case .nothing: break
        case .wake: self.thread.wake()
        case .isStopped: return false
        case .start: return self.start(round)
        }
        return true
    }

    /// Ends the thread once its jobs are done.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.thread.wake()
    }

    private func loop(_ round: @escaping Round) {
        while true {
            let (jobs, isRoundDue, isStopped) = self.state.withLock { state in
                defer { state.jobs = [] }
                // Jobs that come now run after the round, so that a flood of them can't delay the round: other circuits
                // have windows, too.
                return (state.jobs, state.takeRound(at: .now), state.isStopped)
            }
            for job in jobs { job() }
            if isRoundDue {
                let began = ContinuousClock.now
                if let interval = round() {
                    // The thread sleeps at least half of the time, however many circuits there are.
                    let end = ContinuousClock.now
                    let next = max(began + interval, end + began.duration(to: end))
                    self.state.withLock { _ = $0.askForRound(at: next) }
                }
            }
            if !jobs.isEmpty || isRoundDue { continue }
            if isStopped { return }
            self.thread.sleep(until: self.state.withLock { $0.nextRound })
        }
    }
}

/// The value of a job, for the task that waits for it.
private final class Made<Value: Sendable>: Sendable {
    let value = Mutex<Value?>(nil, rank: .leaf)
}

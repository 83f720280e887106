import Synchronization

/// The counting thread: it publishes the successes of circuits with failure-rate rules, answers the questions of other
/// processes, and decides rate checks.
///
/// It waits for no commit, no lock that is held for long, and no disk, because other processes wait for its answers.
/// What may block is done by callers, by `CountingJobs`, or by a thread that prepares the board. The thread sleeps
/// until its next round is due, or until this process or another one rings its bell. It is started when it is first
/// needed.
final class CountingThread: Sendable {
    /// The thread's work.
    ///
    /// Returns the time until the next round, or nil if no work is left.
    typealias Round = @Sendable () -> Duration?

    private struct State {
        var isStarted = false
        var isStopped = false
        /// When the next round is due; nil if none was requested since the last.
        var nextRound: ContinuousClock.Instant?

        /// Requests a round; returns whether it is now the next one: false if an earlier round was requested before.
        mutating func requestRound(at time: ContinuousClock.Instant) -> Bool {
            if let next = self.nextRound, next <= time { return false }
            self.nextRound = time
            return true
        }

        /// What the thread does now.
        ///
        /// - Parameter restEnds: before this time the thread does no round, even if one is due.
        mutating func step(at now: ContinuousClock.Instant, isAsked: Bool, restEnds: ContinuousClock.Instant) -> Step {
            if self.isStopped { return .end }
            guard isAsked || self.nextRound.map({ $0 <= now }) ?? false else { return .sleep(until: self.nextRound) }
            if now < restEnds { return .rest }
            self.nextRound = nil
            return .round
        }
    }

    private enum Step {
        case end, round
        /// Sleep until a round is due, or the bell rings.
        case sleep(until: ContinuousClock.Instant?)
        /// Sleep even if other processes ring the bell.
        case rest
    }

    private let state = Mutex(State(), rank: .leaf)
    let bell = CountingBell()
    private let forks = ForkRecord.forks

    /// Requests a round after `duration`, unless an earlier one is requested already.
    ///
    /// From then on each round returns when the next one is due. Returns false if the thread can't be started, or has
    /// been stopped.
    @discardableResult
    func requestRound(in duration: Duration, _ round: @escaping Round) -> Bool {
        guard !ForkRecord.isForked(since: self.forks) else { return false }
        enum Next { case nothing, wake, start, isStopped }
        let next = self.state.withLock { state -> Next in
            if state.isStopped { return .isStopped }
            let isEarlier = state.requestRound(at: .now + duration)
            defer { state.isStarted = true }
            return state.isStarted ? isEarlier ? .wake : .nothing : .start
        }
        switch next {
        case .nothing: break
        case .wake: self.bell.ring()
        case .isStopped: return false
        case .start: return self.start(round)
        }
        return true
    }

    /// Starts the thread; returns false if the system has no thread left: then the next caller tries again.
    private func start(_ round: @escaping Round) -> Bool {
        // The first round runs on the caller's thread, so that the Swift runtime instantiates the round's generic types
        // here, under its own locks. If another thread did that during a `fork`, the child would find such a lock held
        // forever.
        let interval = round()
        if let interval { self.state.withLock { _ = $0.requestRound(at: .now + interval) } }
        if self.bell.startThread({ self.loop(round) }) { return true }
        self.state.withLock { state in
            state.isStarted = false
            state.nextRound = nil
        }
        return false
    }

    /// Ends the thread.
    func stop() {
        self.state.withLock { $0.isStopped = true }
        self.bell.ring()
    }

    private func loop(_ round: @escaping Round) {
        // The thread sleeps at least half of the time, however many circuits there are and however often other
        // processes ask.
        var restEnds = ContinuousClock.now
        while true {
            // Read before everything else: a ring after this line ends the next sleep at once.
            let mark = self.bell.mark
            switch self.state.withLock({ $0.step(at: .now, isAsked: mark.isAsked, restEnds: restEnds) }) {
            case .end: return
            case .sleep(let time): self.bell.sleep(since: mark, until: time)
            case .rest: self.bell.sleepUndisturbed(until: restEnds)
            case .round:
                let began = ContinuousClock.now
                let interval = round()
                let end = ContinuousClock.now
                // The longest rest is a limit, because a round in which the process was stopped only seems to take
                // long.
                restEnds = end + min(max(began.duration(to: end), Self.shortestRest), Self.longestRest)
                if let interval { self.state.withLock { _ = $0.requestRound(at: began + interval) } }
            }
        }
    }

    private static let shortestRest = Duration.microseconds(100)
    private static let longestRest = Duration.milliseconds(50)
}

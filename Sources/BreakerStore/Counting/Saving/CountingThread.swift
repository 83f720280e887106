import Synchronization

/// The thread that counts: it publishes the successes of circuits with failure-rate rules, answers the questions of
/// other processes, and decides.
///
/// It waits for no commit, no lock that is held for long, and no disk: other processes wait for its answers. What may
/// wait is done by callers, by `CountingJobs`, or by a thread that prepares the board. The thread sleeps until its next
/// round is due, or until its bell is rung, by this process or by another one. It is started when it is first needed.
final class CountingThread: Sendable {
    /// The thread's work.
    ///
    /// Returns the time until the next round, or nil if no work is left.
    typealias Round = @Sendable () -> Duration?

    private struct State {
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

        /// What the thread does now.
        ///
        /// - Parameter rested: before this time it does no round, though one is due.
        mutating func step(at now: ContinuousClock.Instant, isAsked: Bool, rested: ContinuousClock.Instant) -> Step {
            if self.isStopped { return .end }
            guard isAsked || self.nextRound.map({ $0 <= now }) ?? false else { return .sleep(until: self.nextRound) }
            if now < rested { return .rest }
            self.nextRound = nil
            return .round
        }
    }

    private enum Step {
        case end, round
        /// Sleep until a round is due, or the bell rings.
        case sleep(until: ContinuousClock.Instant?)
        /// Sleep, though others ask.
        case rest
    }

    private let state = Mutex(State(), rank: .leaf)
    let bell = CountingBell()
    private let forks = ForkRecord.forks

    /// Asks for a round after so long, or keeps an earlier round that was asked for before.
    ///
    /// From then on each round returns when the next is due. Returns false if the thread can't be started, or has been
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
        case .wake: self.bell.ring()
        case .isStopped: return false
        case .start: return self.start(round)
        }
        return true
    }

    /// Starts the thread; if no thread is left, returns false: the next caller tries again.
    private func start(_ round: @escaping Round) -> Bool {
        // The first round runs on the caller's thread: in it the runtime makes the round's types, under its own locks.
        // If another thread did that during a `fork`, the child would wait forever for such a lock.
        let interval = round()
        if let interval { self.state.withLock { _ = $0.askForRound(at: .now + interval) } }
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
        // The thread sleeps at least half of the time, however many circuits there are and whoever asks.
        var rested = ContinuousClock.now
        while true {
            // Read before everything else: whoever rings from here on ends the next sleep at once.
            let mark = self.bell.mark
            switch self.state.withLock({ $0.step(at: .now, isAsked: mark.isAsked, rested: rested) }) {
            case .end: return
            case .sleep(let time): self.bell.sleep(since: mark, until: time)
            case .rest: self.bell.sleepUndisturbed(until: rested)
            case .round:
                let began = ContinuousClock.now
                let interval = round()
                let end = ContinuousClock.now
                // A round in which the process was stopped says nothing about the work.
                rested = end + min(max(began.duration(to: end), Self.shortestRest), Self.longestRest)
                if let interval { self.state.withLock { _ = $0.askForRound(at: began + interval) } }
            }
        }
    }

    private static let shortestRest = Duration.microseconds(100)
    private static let longestRest = Duration.milliseconds(50)
}

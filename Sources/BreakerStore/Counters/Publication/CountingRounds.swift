import Synchronization

/// The state that one round of counting leaves for the next.
///
/// A round publishes counts, answers questions of other processes, and decides rate checks.
final class CountingRounds: Sendable {
    private let isUnderWay = Atomic<Bool>(false)
    /// How many tries to publish have failed since the last success.
    private let triesToPublish = Atomic<Int>(0)
    private let nextChangeCheck = Mutex<ContinuousClock.Instant?>(nil, rank: .leaf)
    private let nextPreparation = Mutex<ContinuousClock.Instant?>(nil, rank: .leaf)

    // MARK: - One round

    /// Whether a thread is doing a round now.
    var isRunning: Bool { self.isUnderWay.load(ordering: .acquiring) }

    /// Begins a round; false if another thread of this process is doing one.
    func begin() -> Bool {
        self.isUnderWay.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }

    func end() { self.isUnderWay.store(false, ordering: .releasing) }

    // MARK: - Publishing

    /// How soon the thread tries again to answer while another thread of this process moves counts.
    ///
    /// An answer must wait for such a thread: when it did not, 1 of 600 answers lacked successes.
    private static let pause = Duration.microseconds(100)

    /// Counts a failed try, and returns how soon to try again: twice as long each time, up to 64 times, because the
    /// other thread may be stopped, or hang in the file system.
    func countFailedTry() -> Duration {
        Self.pause * (1 << min(self.triesToPublish.wrappingAdd(1, ordering: .relaxed).oldValue, 6))
    }

    func resetPublishTries() { self.triesToPublish.store(0, ordering: .relaxed) }

    // MARK: - Changes by other processes

    /// Whether this round checks for changes by other processes: at most about once a period.
    ///
    /// If so, the next period begins.
    ///
    /// Without that limit each answer could lead to questions of the process that answers, whose answers lead to more
    /// questions, and so on. About its own failures a process asks at once.
    func startChangeCheckIfDue(period: Duration) -> Bool {
        self.nextChangeCheck.withLock { next in
            if let next, next > .now { return false }
            // Half a period, because a round may be a little early.
            next = .now + period / 2
            return true
        }
    }

    // MARK: - Preparing the board

    /// Whether to prepare the board now; if so, no other thread does until `endPreparation`, or for an hour.
    func beginPreparation() -> Bool {
        self.nextPreparation.withLock { next in
            if let next, next > .now { return false }
            next = .now + .seconds(3_600)
            return true
        }
    }

    /// Allows the next preparation at once, or in a second if this one is incomplete.
    func endPreparation(isComplete: Bool) {
        self.nextPreparation.withLock { $0 = isComplete ? nil : .now + .seconds(1) }
    }
}

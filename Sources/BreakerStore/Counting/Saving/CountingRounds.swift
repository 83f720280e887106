import Synchronization

/// What the rounds of the thread that counts remember of each other.
final class CountingRounds: Sendable {
    private let isUnderWay = Atomic<Bool>(false)
    /// How many tries to publish have failed since the last that succeeded.
    private let triesToPublish = Atomic<Int>(0)
    private let nextLook = Mutex<ContinuousClock.Instant?>(nil, rank: .leaf)
    private let nextPreparation = Mutex<ContinuousClock.Instant?>(nil, rank: .leaf)

    // MARK: - One round

    /// Whether a thread publishes, answers and decides just now.
    var isRunning: Bool { self.isUnderWay.load(ordering: .acquiring) }

    /// Begins a round; false if another thread of this process does one.
    func begin() -> Bool {
        self.isUnderWay.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
    }

    func end() { self.isUnderWay.store(false, ordering: .releasing) }

    // MARK: - Publishing

    /// How soon the thread tries again to answer, where another thread of this process moves counts just now.
    ///
    /// An answer must wait for such a thread: without that, 1 of 600 answers lacked successes.
    private static let pause = Duration.microseconds(100)

    /// How soon to try again: later each time, as the other thread may be stopped, or hang in the file system.
    func pauseAfterFailure() -> Duration {
        Self.pause * (1 << min(self.triesToPublish.wrappingAdd(1, ordering: .relaxed).oldValue, 6))
    }

    func notePublished() { self.triesToPublish.store(0, ordering: .relaxed) }

    // MARK: - News

    /// Whether this round looks at news: hardly more often than if nobody asked.
    ///
    /// If each answer could be followed by questions of the process that answers, they would be answered by other
    /// processes, which would ask, too, and so on. A process asks at once about its own failures.
    func looksAtNews(period: Duration) -> Bool {
        self.nextLook.withLock { next in
            if let next, next > .now { return false }
            // Half, as a round may come a little early.
            next = .now + period / 2
            return true
        }
    }

    // MARK: - Preparing the board

    /// Whether to prepare the board now; if so, no other thread does until `endPreparation`.
    func beginPreparation() -> Bool {
        self.nextPreparation.withLock { next in
            if let next, next > .now { return false }
            next = .now + .seconds(3_600)
            return true
        }
    }

    /// If something is still missing, the next preparation is a second later.
    func endPreparation(isComplete: Bool) {
        self.nextPreparation.withLock { $0 = isComplete ? nil : .now + .seconds(1) }
    }
}

import Synchronization

/// Wakes the counting thread: by the bell of its seat, a futex that other processes ring, too; without a seat, or on a
/// system that can't sleep on memory that processes share, by a signal of this process.
final class CountingBell: Sendable {
    private struct State {
        var seats: Seats?
        /// The last question that the thread has seen.
        var seen: UInt64 = 0
        /// The last question that this process has answered.
        var answered: UInt64 = 0
        /// Whether the thread can sleep on the board's memory; false once a try has failed.
        var canSleepOnBoard = true
    }

    private let state = ForkSafe(State())
    private let thread = StoreThread()

    func startThread(_ body: @escaping @Sendable () -> Void) -> Bool { self.thread.start(body) }

    /// The seats of the open board; nil before the worker has asked for a seat, and once the board is lost.
    var seats: Seats? { self.state.value.seats.flatMap { $0.board.isLost ? nil : $0 } }

    /// Uses the seats of a new board from now on; nil: of none.
    func use(_ seats: Seats?) {
        var old: Seats?
        // One less than the last question, which may concern this process: so it counts as neither seen nor answered.
        let last = (seats?.asked ?? 0) &- 1
        self.state.change { state in
            old = state.seats
            state.seats = seats
            (state.seen, state.answered) = (last, last)
        }
        // The thread may be sleeping on the old bell, or on the signal.
        old?.ringOwn()
        self.thread.wake()
    }

    func ring() {
        self.thread.wake()
        // On a lost board, too: the thread may have gone to sleep before the loss.
        self.state.value.seats?.ringOwn()
    }

    /// Sets the last question that a round has seen, whether or not it was answered.
    func setSeen(_ asked: UInt64) { self.state.change { $0.seen = asked } }

    /// Answers a question on these seats, and records the answer unless the bell has other seats by now.
    ///
    /// The questions of each board have numbers of their own.
    func answer(_ asked: UInt64, on seats: Seats) {
        seats.answer(asked)
        self.state.change { if $0.seats === seats { $0.answered = asked } }
    }

    /// The last question that this process has answered, with or without a seat.
    var answered: UInt64 { self.state.value.answered }

    // MARK: - For the thread

    /// What the thread read before it checked for work: a bell that is rung later ends the next sleep at once.
    struct Mark {
        fileprivate let seats: Seats?
        fileprivate let bell: UInt32?
        /// Whether a question was asked that the thread has not seen, or the board was replaced.
        let isAsked: Bool
    }

    var mark: Mark {
        let state = self.state.value
        guard let seats = state.seats, !seats.board.isLost else { return Mark(seats: nil, bell: nil, isAsked: false) }
        let bell = state.canSleepOnBoard ? seats.bell : nil
        return Mark(seats: seats, bell: bell, isAsked: seats.asked != state.seen || seats.isMoved)
    }

    /// A limit, because the bell's memory may be replaced during the sleep: then no ring arrives.
    private static let longestSleep = Duration.seconds(10)

    func sleep(since mark: Mark, until time: ContinuousClock.Instant?) {
        guard let seats = mark.seats, let bell = mark.bell else { return self.thread.sleep(until: time) }
        let duration = time.map { ContinuousClock.now.duration(to: $0) } ?? Self.longestSleep
        switch seats.sleep(while: bell, for: duration) {
        case .over: break
        case .lost: seats.board.lose()
        // From now on other processes can't wake the thread: it answers in its next round, and the rounds are frequent
        // while this process counts.
        case .impossible: self.state.change { $0.canSleepOnBoard = false }
        }
    }

    /// Sleeps even if other processes ring the bell; this process can end the sleep early.
    func sleepUndisturbed(until time: ContinuousClock.Instant) { self.thread.sleep(until: time) }
}

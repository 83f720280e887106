import Synchronization

/// What wakes the thread that counts: its seat's bell, which other processes ring, too; without a seat, or where nobody
/// can sleep on memory that processes share, a signal of this process.
final class CountingBell: Sendable {
    private struct State {
        var seats: Seats?
        /// The last question that the thread has seen.
        var seen: UInt64 = 0
        /// The last question that this process has answered.
        var answered: UInt64 = 0
        /// Whether nobody can sleep on the board's memory here.
        var isDeaf = false
    }

    private let state = ForkSafe(State())
    private let thread = StoreThread()

    func startThread(_ body: @escaping @Sendable () -> Void) -> Bool { self.thread.start(body) }

    /// The seats of the open board; nil before they were taken, and once the board is lost.
    var seats: Seats? { self.state.value.seats.flatMap { $0.board.isLost ? nil : $0 } }

    /// Uses the seats of a new board; nil: of no board.
    func use(_ seats: Seats?) {
        var old: Seats?
        // The last question may concern this process.
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
        // Of a lost board, too: the thread may have gone to sleep before the loss.
        self.state.value.seats?.ringOwn()
    }

    /// Notes the last question that a round has seen, whether or not it could be answered.
    func noteSeen(_ asked: UInt64) { self.state.change { $0.seen = asked } }

    /// Answers a question, unless the seats are no longer those of the open board.
    func answer(_ asked: UInt64, on seats: Seats) {
        seats.answer(asked)
        self.state.change { if $0.seats === seats { $0.answered = asked } }
    }

    /// The last question that this process has answered, also where it has no seat.
    var answered: UInt64 { self.state.value.answered }

    // MARK: - For the thread

    /// What the thread saw before it looked for work.
    struct Mark {
        fileprivate let seats: Seats?
        fileprivate let bell: UInt32?
        /// Whether a question was asked that the thread has not seen, or the board was replaced.
        let isAsked: Bool
    }

    var mark: Mark {
        let state = self.state.value
        guard let seats = state.seats, !seats.board.isLost else { return Mark(seats: nil, bell: nil, isAsked: false) }
        let bell = state.isDeaf ? nil : seats.bell
        return Mark(seats: seats, bell: bell, isAsked: seats.asked != state.seen || seats.isMoved)
    }

    /// If the bell's memory is taken away during the sleep, nobody can ring it.
    private static let longestSleep = Duration.seconds(10)

    func sleep(since mark: Mark, until time: ContinuousClock.Instant?) {
        guard let seats = mark.seats, let bell = mark.bell else { return self.thread.sleep(until: time) }
        let duration = time.map { ContinuousClock.now.duration(to: $0) } ?? Self.longestSleep
        switch seats.sleep(while: bell, for: duration) {
        case .over: break
        case .lost: seats.board.lose()
        // As long as this worker publishes often, it also answers often enough.
        case .impossible: self.state.change { $0.isDeaf = true }
        }
    }

    /// Sleeps though others ask; ends early if this process has something to do.
    func sleepUndisturbed(until time: ContinuousClock.Instant) { self.thread.sleep(until: time) }
}

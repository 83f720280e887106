/// A question to all workers that use a circuit: an answer means that the worker has published all that it counted
/// before.
///
/// A process asks it when it sees a failure rate reached: failures are on the board at once, successes only when their
/// process has published them. Pure: the counting thread carries out what the question decides.
struct RateQuestion: Equatable, Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The number of the question; an answer to a later question is an answer to this one, too.
    ///
    /// Nil if this process could not reach the seats: then no worker can answer.
    let number: UInt64?
    /// The worker that asks.
    let asker: WorkerID
    /// The circuit's bit in the masks of the seats.
    let bit: UInt64
    /// The other living workers that had registered the circuit when the question was asked; nil if the file could not
    /// be read.
    let users: Set<WorkerID>?
    let asked: Instant
    /// How long to wait for living workers that do not answer.
    let patience: Duration

    /// How long to wait for a living worker that does not answer.
    ///
    /// It may be stopped, its file system may be frozen, it may have no seat, or run a release without seats.
    static func patience(period: Duration) -> Duration { .seconds(1) + period * 2 }

    /// Whether a worker's seat has the answer to a question.
    ///
    /// Compares by the sign of the difference, because numbers wrap around, and another program may have written any.
    static func isAnswered(_ number: UInt64?, by answered: UInt64) -> Bool {
        number.map { Int64(bitPattern: answered &- $0) >= 0 } ?? false
    }

    /// Whether the worker of a seat may count calls of the circuit.
    func concerns(_ seat: Seats.Taken) -> Bool {
        seat.mask & self.bit != 0 || self.users?.contains(seat.worker) ?? true
    }

    /// How many workers have not answered: each may still have successes that it has not published.
    ///
    /// The asker answers its own question like all others: the thread that asked may not be the counting thread.
    ///
    /// - Parameters:
    ///   - own: the last question that this process has answered.
    ///   - isAlive: whether another worker lives; a dead worker's seat and registration count for nothing.
    func missing(_ seats: some Collection<Seats.Taken>, own: UInt64, isAlive: (WorkerID) -> Bool) -> Int {
        var missing = Self.isAnswered(self.number, by: own) ? 0 : 1
        for seat in seats
        where seat.worker != self.asker && self.concerns(seat)
            && !Self.isAnswered(self.number, by: seat.answered) && isAlive(seat.worker)
        {
            missing += 1
        }
        // The users are unknown: they count as one that never answers, so the check waits until `patience` is over.
        guard let users = self.users else { return missing + 1 }
        let unseated = users.subtracting(seats.map(\.worker))
        return missing + unseated.count { $0 != self.asker && isAlive($0) }
    }

    enum Step: Equatable, Sendable {
        case wait(until: Instant)
        /// Time to decide, though some workers may have not answered.
        case decide(missing: Int)
    }

    /// What to do now.
    func step(missing: Int, at now: Instant) -> Step {
        let end = self.asked + self.patience
        guard missing > 0, now < end else { return .decide(missing: missing) }
        // Polls, because no bell announces answers: most come within half a millisecond.
        let pause = min(max(self.asked.duration(to: now) / 4, .microseconds(100)), .milliseconds(10))
        return .wait(until: min(now + pause, end))
    }
}

/// The check of a failure rate that this process sees as reached, from the first question to the trip.
///
/// The check also ends when the rate is not reached and no failure has been counted since the question.
///
/// Pure. If the rate was not reached after all, and failures have come since, the check asks again after a pause: just
/// below its threshold, a busy circuit would otherwise be asked for with each failure.
struct RateCheck: Equatable, Sendable {
    typealias Instant = RateQuestion.Instant

    enum Phase: Equatable, Sendable {
        /// A question was asked.
        case asked(RateQuestion)
        /// The rate was not reached: nothing is asked before this time.
        case resting(until: Instant)
        /// The next question is about to be asked.
        case due
    }

    private(set) var phase: Phase
    /// How long the next rest is.
    private(set) var rest = Self.shortestRest
    /// Whether this process has counted a failure since the question was asked.
    private(set) var hasNews = false

    static let shortestRest = Duration.milliseconds(1)
    static let longestRest = Duration.milliseconds(50)

    init(_ question: RateQuestion) { self.phase = .asked(question) }

    /// Called when this process has counted a failure; returns whether the check will look at that failure, too.
    ///
    /// If not, the caller asks.
    mutating func failureCounted() -> Bool {
        switch self.phase {
        case .asked, .resting:
            self.hasNews = true
            return true
        case .due: return false
        }
    }

    enum Step: Equatable, Sendable {
        /// Nil: until something happens.
        case wait(until: Instant?)
        case decide(missing: Int)
        /// Sum the windows again, and ask again if the rate is reached.
        case askAgain
    }

    /// What the thread that counts is to do now.
    ///
    /// - Parameter missing: how many workers have not answered a question.
    mutating func step(_ missing: (RateQuestion) -> Int, at now: Instant) -> Step {
        switch self.phase {
        case .asked(let question):
            switch question.step(missing: missing(question), at: now) {
            case .wait(let until): return .wait(until: until)
            case .decide(let missing): return .decide(missing: missing)
            }
        case .resting(let until):
            guard now >= until else { return .wait(until: until) }
            self.phase = .due
            return .askAgain
        case .due: return .wait(until: nil)
        }
    }

    /// Called when all have answered and the rate is not reached; returns whether the check goes on.
    ///
    /// - Parameter hasFailures: whether there are failures, of whatever process, that the question did not count.
    mutating func wasNotReached(hasFailures: Bool, at now: Instant) -> Bool {
        guard hasFailures || self.hasNews else { return false }
        self.goOn(at: now)
        return true
    }

    /// Rests, and then asks again: also after a rate that was reached, as other rules may keep the circuit closed.
    mutating func goOn(at now: Instant) {
        self.phase = .resting(until: now + self.rest)
        self.rest = min(self.rest * 2, Self.longestRest)
    }

    /// Called when a question was asked again.
    mutating func ask(_ question: RateQuestion) {
        self.phase = .asked(question)
        self.hasNews = false
    }
}

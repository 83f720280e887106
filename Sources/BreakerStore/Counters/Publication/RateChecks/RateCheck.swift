/// A two-phase check of a failure rate that this process sees as reached: first it asks all processes to publish, then
/// it decides.
///
/// The check ends with the trip, or when the rate is not reached and no failure has been counted since the question.
///
/// Pure. If the rate was not reached after all, and failures were counted since, the check asks again after a rest:
/// otherwise each failure of a busy circuit just below its threshold would lead to a question.
struct RateCheck: Equatable, Sendable {
    typealias Instant = RateQuestion.Instant

    enum Phase: Equatable, Sendable {
        /// A question was asked.
        case asked(RateQuestion)
        /// The rate was not reached: the check asks nothing before this time.
        case resting(until: Instant)
        /// The rest is over, and the next question is about to be asked.
        case due
    }

    private(set) var phase: Phase
    /// How long the next rest will be.
    private(set) var rest = Self.shortestRest
    /// Whether this process has counted a failure since the question was asked.
    private(set) var hasNewFailures = false

    static let shortestRest = Duration.milliseconds(1)
    static let longestRest = Duration.milliseconds(50)

    init(_ question: RateQuestion) { self.phase = .asked(question) }

    /// Applies a failure that this process has counted; returns whether the check will consider it.
    ///
    /// If not, the caller asks a question: in `due`, a thread may already have summed the windows without this failure.
    mutating func applyFailure() -> Bool {
        switch self.phase {
        case .asked, .resting:
            self.hasNewFailures = true
            return true
        case .due: return false
        }
    }

    enum Step: Equatable, Sendable {
        /// Wait until this time; nil: for the next event.
        case wait(until: Instant?)
        case decide(missing: Int)
        /// Sum the windows again, and ask again if the rate is reached.
        case askAgain
    }

    /// What the counting thread is to do now.
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

    /// Applies that the question was decided and the rate is not reached; returns whether the check goes on.
    ///
    /// - Parameter hasFailures: whether any process may have counted failures that the question did not include.
    mutating func applyNotReached(hasFailures: Bool, at now: Instant) -> Bool {
        guard hasFailures || self.hasNewFailures else { return false }
        self.restAndAskAgain(at: now)
        return true
    }

    /// Rests, and then asks again: also after a reached rate, as other rules may keep the circuit closed.
    mutating func restAndAskAgain(at now: Instant) {
        self.phase = .resting(until: now + self.rest)
        self.rest = min(self.rest * 2, Self.longestRest)
    }

    /// Applies that the question was asked again.
    mutating func applyAsked(_ question: RateQuestion) {
        self.phase = .asked(question)
        self.hasNewFailures = false
    }
}

import Testing

@testable import BreakerStore

/// What a process that sees a failure rate reached does with the answers of the others.
@Suite(.timeLimit(.minutes(5))) struct RateQuestionTests {
    private static let start = RateQuestion.Instant.now
    private static let bit: UInt64 = 4

    /// The seventh question, of worker 1, of a circuit that workers 2 and 3 have registered.
    private static func question(users: Set<WorkerID>? = [2, 3]) -> RateQuestion {
        RateQuestion(
            number: 7, asker: 1, bit: Self.bit, users: users, asked: Self.start,
            patience: RateQuestion.patience(period: .milliseconds(50)))
    }

    private static func seat(_ worker: WorkerID, _ answered: UInt64, mask: UInt64 = 4) -> Seats.Taken {
        Seats.Taken(worker: worker, answered: answered, mask: mask)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var seats: [Seats.Taken]
        var users: Set<WorkerID>? = [2, 3]
        var own: UInt64 = 7
        var dead: Set<WorkerID> = []
        let missing: Int

        init(
            _ description: String, _ seats: [Seats.Taken], users: Set<WorkerID>? = [2, 3], own: UInt64 = 7,
            dead: Set<WorkerID> = [], missing: Int
        ) {
            self.testDescription = description
            self.seats = seats
            self.users = users
            self.own = own
            self.dead = dead
            self.missing = missing
        }
    }

    static let cases = [
        Case("All have answered.", [seat(1, 7), seat(2, 7), seat(3, 7)], missing: 0),
        Case("The answer to a later question serves as well.", [seat(1, 7), seat(2, 8), seat(3, 900)], missing: 0),
        Case("One has not.", [seat(1, 7), seat(2, 6), seat(3, 7)], missing: 1),
        Case("A seat that was just taken has answered nothing yet.", [seat(2, 7), seat(3, 6)], missing: 1),
        Case("The first question of all: a new seat is one behind.", [seat(2, .max), seat(3, .max)], missing: 2),
        Case("The asker answers like all others.", [seat(1, 7), seat(2, 7), seat(3, 7)], own: 6, missing: 1),
        Case(
            "What the asker's seat says counts for nothing: it may be another's by now.",
            [seat(1, 3), seat(2, 7), seat(3, 7)], missing: 0),
        Case("A dead worker is not waited for.", [seat(2, 7), seat(3, 6)], dead: [3], missing: 0),
        Case(
            "A worker of another circuit is not waited for.", [seat(2, 7), seat(3, 7), seat(4, 0, mask: 8)], missing: 0),
        Case(
            "A worker whose bit is set may use the circuit, though it is not registered yet.",
            [seat(2, 7), seat(3, 7), seat(4, 6)], missing: 1),
        Case(
            "A worker that is registered may use the circuit, though its bit is not set yet.",
            [seat(2, 7), seat(3, 6, mask: 0)], missing: 1),
        Case("A living worker without a seat can't answer.", [seat(2, 7)], missing: 1),
        Case("A dead worker without a seat need not.", [seat(2, 7)], dead: [3], missing: 0),
        Case("A worker that has taken a seat since is asked there.", [seat(2, 7), seat(3, 7)], missing: 0),
        Case(
            "Where the file can't be read, there may be workers without a seat.", [seat(2, 7)], users: nil, missing: 1),
        Case("... and each worker with a seat may use the circuit.", [seat(2, 6, mask: 0)], users: nil, missing: 2),
        Case("Another program's numbers are no trap.", [seat(2, 7 &+ 1 << 63), seat(3, .max)], missing: 2),
    ]

    @Test(arguments: cases) func whoIsMissing(_ one: Case) {
        let missing = Self.question(users: one.users).missing(one.seats, own: one.own) { !one.dead.contains($0) }
        #expect(missing == one.missing)
    }

    /// A process without seats has asked nobody: a seat that it takes while it waits has answered other questions.
    @Test func withoutSeatsNobodyHasAnswered() {
        let question = RateQuestion(
            number: nil, asker: 1, bit: Self.bit, users: [2], asked: Self.start,
            patience: RateQuestion.patience(period: .milliseconds(50)))
        #expect(question.missing([Self.seat(2, 9)], own: 9) { _ in true } == 2)
    }

    @Test func waitsForTheMissingAndNotForEver() {
        let question = Self.question()
        let patience = Duration.milliseconds(1_100)
        #expect(question.patience == patience)
        #expect(question.step(missing: 0, at: Self.start) == .decide(missing: 0))
        #expect(question.step(missing: 1, at: Self.start) == .wait(until: Self.start + .microseconds(100)))
        let later = Self.start + .milliseconds(8)
        #expect(question.step(missing: 1, at: later) == .wait(until: later + .milliseconds(2)))
        let late = Self.start + .milliseconds(900)
        #expect(question.step(missing: 1, at: late) == .wait(until: late + .milliseconds(10)))
        let last = Self.start + .milliseconds(1_095)
        #expect(question.step(missing: 1, at: last) == .wait(until: Self.start + patience))
        #expect(question.step(missing: 2, at: Self.start + patience) == .decide(missing: 2))
    }

    /// A check, with functions that may be called within an expectation.
    private final class Checked {
        private var check = RateCheck(RateQuestionTests.question())

        func applyFailure() -> Bool { self.check.applyFailure() }
        func applyNotReached(hasFailures: Bool, at now: RateQuestion.Instant) -> Bool {
            self.check.applyNotReached(hasFailures: hasFailures, at: now)
        }
        /// All have answered.
        func step(at now: RateQuestion.Instant) -> RateCheck.Step { self.check.step({ _ in 0 }, at: now) }
        func applyAsked() { self.check.applyAsked(RateQuestionTests.question()) }
    }

    /// Just below its threshold a circuit is asked for after 1 ms, 2 ms, 4 ms … 50 ms, however many calls fail.
    @Test func questionsThatFindNothingBecomeRare() {
        let check = Checked()
        var now = Self.start
        var rests: [Duration] = []
        for _ in 0..<9 {
            #expect(check.step(at: now) == .decide(missing: 0))
            #expect(check.applyFailure())
            #expect(check.applyNotReached(hasFailures: false, at: now))
            guard case .wait(until: let until?) = check.step(at: now) else {
                Issue.record("no rest")
                return
            }
            rests.append(now.duration(to: until))
            now = until
            // A failure of the rest is looked at by the next question.
            #expect(check.applyFailure())
            #expect(check.step(at: now) == .askAgain)
            #expect(check.step(at: now) == .wait(until: nil))
            check.applyAsked()
        }
        #expect(rests == [1, 2, 4, 8, 16, 32, 50, 50, 50].map { .milliseconds($0) })
    }

    /// A rate that was reached trips nothing if too few workers have failed, and the next failure looks the same.
    @Test func aReachedRateIsFollowedByARest() {
        var check = RateCheck(Self.question())
        check.restAndAskAgain(at: Self.start)
        #expect(check.phase == .resting(until: Self.start + .milliseconds(1)))
        check.applyAsked(Self.question())
        check.restAndAskAgain(at: Self.start)
        #expect(check.phase == .resting(until: Self.start + .milliseconds(2)))
    }

    @Test func aCheckEndsWhenNothingFailsAnyMore() {
        #expect(!Checked().applyNotReached(hasFailures: false, at: Self.start))
    }

    @Test func failuresOfOthersKeepACheckGoing() {
        #expect(Checked().applyNotReached(hasFailures: true, at: Self.start))
    }

    /// Whoever counts a failure while the question is about to be asked again asks it: the thread may be busy.
    @Test func whoFailsWhileTheQuestionIsDueAsks() {
        let check = Checked()
        #expect(check.applyNotReached(hasFailures: true, at: Self.start))
        #expect(check.step(at: Self.start + .milliseconds(1)) == .askAgain)
        #expect(!check.applyFailure())
    }
}

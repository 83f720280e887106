import Synchronization

/// A check of a circuit's failure rate, with the numbers that it compares.
struct PendingRateCheck: Sendable {
    let circuit: SharedCircuit
    let cells: CircuitCells
    let rules: Rules
    let epoch: Epoch
    /// The policy's text of the failure at which this process asked, if it was this process's.
    var error: String?
    /// The failed and slow calls that the board had before the windows were summed.
    let bad: UInt64
    /// How many successes the board had ever counted before the windows were summed, for each rule.
    let goodBefore: [WindowSubject: Int64]
    /// The calls in the windows when the question was asked.
    let calls: Circuit.WindowCounts
    /// Whether another worker lives; asks only the kernel.
    let isAlive: @Sendable (WorkerID) -> Bool
    var check: RateCheck

    /// The failures counted when the question was asked, among the successes of that time and all that were published
    /// since; none if the board is lost.
    ///
    /// Not among the successes that the window has now: the window slides while the answers come, and would leave out
    /// the oldest successes. The number of successes ever counted only rises, and is read before the windows are
    /// summed: a success that is published in between is in the window, in the rise since, or in both.
    var counted: Circuit.WindowCounts {
        let counted = self.calls.with(good: self.cells.goodEver, since: self.goodBefore)
        // Checked after the numbers are read: a lost board reads as zeros.
        return self.cells.isLost ? Circuit.WindowCounts() : counted
    }

    fileprivate func isSameQuestion(as other: PendingRateCheck) -> Bool {
        self.epoch == other.epoch && self.check.phase == other.check.phase
    }
}

extension Circuit.WindowCounts {
    /// The same bad calls, among the same good calls and those that were counted since.
    func with(good: [WindowSubject: Int64], since before: [WindowSubject: Int64]) -> Circuit.WindowCounts {
        var counted = self
        for (subject, before) in before {
            // Any program may have written any numbers to the board.
            let since = max(0, (good[subject] ?? 0).subtractingSaturating(before))
            counted[subject] = self[subject].map {
                WindowCount(calls: $0.calls.addingSaturating(since), bad: $0.bad)
            }
        }
        return counted
    }
}

/// The checks of this process, at most one for each circuit.
///
/// They exist only in this process's memory: after a kill nothing is left to clean up. Another process that counts a
/// failure, or notices that one was counted, checks the same rate.
final class RateChecks: Sendable {
    private let all = Mutex<[CircuitName: PendingRateCheck]>([:], rank: .leaf)

    var isEmpty: Bool { self.all.withLock { $0.isEmpty } }

    /// Whether a check of this circuit is under way.
    func hasCheck(of circuit: SharedCircuit) -> Bool { self.all.withLock { $0[circuit.key] != nil } }

    /// Applies a failure that was counted in an epoch, in these cells; returns whether a check will consider it.
    func applyFailure(of circuit: SharedCircuit, in epoch: Epoch, _ cells: CircuitCells?) -> Bool {
        self.all.withLock { all in
            guard let pending = all[circuit.key], pending.epoch == epoch, pending.cells === cells else { return false }
            return all[circuit.key]?.check.applyFailure() ?? false
        }
    }

    /// Begins a check, or continues a check of the same circuit with a new question.
    func begin(_ new: PendingRateCheck, asking question: RateQuestion) {
        self.all.withLock { all in
            var pending = new
            if let old = all[new.circuit.key], old.epoch == new.epoch {
                pending.check = old.check
                pending.check.applyAsked(question)
                pending.error = new.error ?? old.error
            }
            all[new.circuit.key] = pending
        }
    }

    /// Applies that the rate of a check was reached: the circuit is about to trip, unless another rule keeps it closed.
    ///
    /// Without a rest, each failure under a rule that asks for several reporters would lead to a question and a commit.
    func applyReached(_ decided: PendingRateCheck, at now: RateQuestion.Instant) {
        self.all.withLock { all in
            if all[decided.circuit.key]?.isSameQuestion(as: decided) ?? false {
                all[decided.circuit.key]?.check.restAndAskAgain(at: now)
            }
        }
    }

    /// Ends a check, unless another question was asked since.
    func end(_ decided: PendingRateCheck) {
        self.all.withLock { all in
            if all[decided.circuit.key]?.isSameQuestion(as: decided) ?? false { all[decided.circuit.key] = nil }
        }
    }

    /// Ends a check that was about to ask again, because the rate is no longer reached.
    func endIfDue(of circuit: SharedCircuit) {
        self.all.withLock { all in
            if case .due = all[circuit.key]?.check.phase { all[circuit.key] = nil }
        }
    }

    /// What to do now for each check.
    func steps(
        _ missing: (PendingRateCheck, RateQuestion) -> Int, at now: RateQuestion.Instant
    ) -> [(pending: PendingRateCheck, step: RateCheck.Step)] {
        // `missing` asks the kernel which workers live, so no lock is held.
        let checks = self.all.withLock { $0 }
        var answers: [CircuitName: (question: RateQuestion, missing: Int)] = [:]
        for (key, pending) in checks {
            guard case .asked(let question) = pending.check.phase else { continue }
            answers[key] = (question, missing(pending, question))
        }
        return self.all.withLock { all in
            var steps: [(pending: PendingRateCheck, step: RateCheck.Step)] = []
            for key in Array(all.keys) {
                guard var pending = all[key] else { continue }
                // A question that was asked since is left for the next round: it counts as missing one answer.
                let answer = answers[key]
                let step = pending.check.step(
                    { question in
                        guard let answer, answer.question == question else { return 1 }
                        return answer.missing
                    }, at: now)
                all[key] = pending
                steps.append((pending, step))
            }
            return steps
        }
    }

    /// Applies that the question of a check was decided, and the rate was not reached.
    func applyNotReached(_ decided: PendingRateCheck, hasFailures: Bool, at now: RateQuestion.Instant) {
        self.all.withLock { all in
            guard var pending = all[decided.circuit.key], pending.isSameQuestion(as: decided) else { return }
            all[decided.circuit.key] = pending.check.applyNotReached(hasFailures: hasFailures, at: now) ? pending : nil
        }
    }
}

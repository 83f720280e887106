import BreakerStore
import Testing

@testable import breaker_inspect

/// The budget of a refused call, at uptime 100 s.
@Suite struct WaitingTests {
    private static let start = Duration.seconds(100)

    private func waiting(_ budget: Duration) -> Waiting { Waiting(until: Self.start + budget) }

    private func open(_ remaining: Duration, openEnd: Int64 = 1) -> AwaitedCircuit {
        .open(openEnd: openEnd, remaining: remaining)
    }

    @Test(arguments: [
        (AwaitedCircuit.held, Waiting.Step.refuse), (.admits, .tryNow),
        (.probing, .readAgain(after: .milliseconds(25))),
        (.open(openEnd: 1, remaining: .seconds(11)), .refuse),
        (.open(openEnd: 1, remaining: .seconds(10)), .readAgain(after: .milliseconds(100))),
        (.open(openEnd: 1, remaining: .milliseconds(30)), .readAgain(after: .milliseconds(30))),
    ])
    func beginsWithTheWholeBudget(circuit: AwaitedCircuit, step: Waiting.Step) {
        var waiting = self.waiting(.seconds(10))
        #expect(waiting.next(circuit, at: Self.start, draw: 0.5) == step)
    }

    @Test func probesAreAwaitedToTheEndOfTheBudget() {
        var waiting = self.waiting(.seconds(10))
        let last = Self.start + .seconds(10)
        #expect(waiting.next(.probing, at: last - .milliseconds(3), draw: 0) == .readAgain(after: .milliseconds(3)))
        #expect(waiting.next(.probing, at: last, draw: 0) == .refuse)
    }

    /// The times at which a call tries a circuit whose declared outage ends in `remaining`.
    private func attempt(
        _ outage: Duration?, remaining: Duration, budget: Duration, draw: Double
    ) -> Duration? {
        var waiting = self.waiting(budget)
        var now = Self.start
        while now <= Self.start + budget + .seconds(1) {
            let left = remaining - (now - Self.start)
            let circuit = left > .zero ? self.open(left) : .admits
            switch waiting.next(circuit, declared: outage, at: now, draw: draw) {
            case .tryNow: return now - Self.start
            case .refuse: return nil
            case .readAgain(let time):
                #expect(time > .zero)
                now += time
            }
        }
        return nil
    }

    @Test(arguments: [
        (Duration?.none, 10.0, 60.0, 0.9, Double?(10)), (.seconds(10), 10, 60, 0, 10),
        (.seconds(10), 10, 60, 0.5, 10.5),
        // A tenth of the whole outage, whenever the wait began.
        (.seconds(100), 2, 60, 0.5, 7),
        // At most 30 s, and at most the budget.
        (.seconds(36_000), 10, 600, 0.5, 25), (.seconds(100), 10, 12, 0.5, 11), (.seconds(100), 10, 10, 0.5, 10),
        (.seconds(100), 10, 9.999, 0.5, nil),
    ])
    func attemptsAreSpread(outage: Duration?, remaining: Double, budget: Double, draw: Double, attempt: Double?) {
        let found = self.attempt(outage, remaining: .seconds(remaining), budget: .seconds(budget), draw: draw)
        #expect(found.map { $0 / .seconds(1) }.map { ($0 * 1_000).rounded() / 1_000 } == attempt)
    }

    /// A reset lets all through at once; the end of the outage does not.
    @Test func leavesAnOutageThatAnOperatorEnds() {
        var waiting = self.waiting(.seconds(60))
        _ = waiting.next(self.open(.seconds(10)), declared: .seconds(100), at: Self.start, draw: 0.5)
        #expect(waiting.next(.admits, at: Self.start + .seconds(3), draw: 0) == .tryNow)
        #expect(waiting.next(.admits, at: Self.start + .seconds(14), draw: 0) == .readAgain(after: .milliseconds(100)))
        #expect(waiting.next(.probing, at: Self.start + .seconds(14), draw: 0) == .readAgain(after: .milliseconds(100)))
        #expect(waiting.next(.admits, at: Self.start + .seconds(15), draw: 0) == .tryNow)
        #expect(waiting.next(.held, at: Self.start + .seconds(3), draw: 0) == .refuse)
    }

    @Test func aLaterEndIsDecidedAgain() {
        var waiting = self.waiting(.seconds(60))
        _ = waiting.next(self.open(.seconds(10)), declared: .seconds(100), at: Self.start, draw: 0.5)
        let later = self.open(.seconds(58), openEnd: 2)
        #expect(waiting.next(later, declared: .seconds(60), at: Self.start + .seconds(3), draw: 0) == .refuse)
        let sooner = self.open(.seconds(20), openEnd: 3)
        #expect(
            waiting.next(sooner, declared: nil, at: Self.start + .seconds(3), draw: 0)
                == .readAgain(after: .milliseconds(100)))
        #expect(waiting.next(.admits, at: Self.start + .seconds(23), draw: 0) == .tryNow)
    }
}

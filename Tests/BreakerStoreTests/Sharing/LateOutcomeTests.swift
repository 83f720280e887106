import BreakerTestSupport
import Testing

/// A call that was let through while the circuit was closed, and ends when it no longer is, changes nothing.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct LateOutcomeTests {
    enum State: String, CaseIterable {
        case open, halfOpen, closedAgain
    }

    static let cases = State.allCases.flatMap { state in ["failed", "succeed", "discard"].map { (state, $0) } }

    /// The circuit is changed by the same process, or by another one.
    @Test(arguments: cases)
    func changesNothing(in state: State, ending: String) async throws {
        let place = try Workplace.here
        let late = try await place.openWorkers(2)
        let other = try await place.openWorker()
        let all = late + [other]
        try await all.ask("breaker users failures=2 consecutive=2")
        for worker in late { #expect(try await worker.ask("admit users").number("ran") == 1) }

        // The first of the late ones has an answer of its own making at hand, the second one has to look.
        try await late[0].ask("fail users 2")
        switch state {
        case .open: break
        case .halfOpen:
            place.clock.advance(by: .seconds(30))
            #expect(try await other.ask("admit users").number("ran") == 1)
        case .closedAgain:
            place.clock.advance(by: .seconds(30))
            #expect(try await other.ask("call users").number("ran") == 1)
            #expect(try await other.ask("fail users").number("failed") == 1)
        }
        let before = try await all.ask("look users")
        for worker in late { try await worker.ask(ending) }
        #expect(try await all.ask("look users") == before)

        switch state {
        case .open: #expect(try await other.ask("call users")["cause"] == "open")
        case .halfOpen:
            try await other.ask("succeed")
            #expect(try await late[0].ask("look users")["state"] == "closed")
        case .closedAgain: #expect(before[0].description.hasPrefix("state=closed failures=1 "))
        }
    }
}

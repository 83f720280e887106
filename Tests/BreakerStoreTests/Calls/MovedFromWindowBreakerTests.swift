import BreakerStore
import Testing

/// What users of AlexanderNey/CircuitBreaker rely on, which has a test for each: a circuit that trips on failures
/// within a window, recovers by one call, lets cancelled calls be and leaves out the errors that its user names.
@Suite(.timeLimit(.minutes(10))) struct MovedFromWindowBreakerTests {
    /// Calls made one after the other: `.` succeeds, `x` fails; and what each is answered: `-` is refused.
    struct Story: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var failures: Int
        var window: Duration
        var recovery: Duration
        var calls: String
        /// The time that passes after each call; after those that it does not name, 1 s.
        var pauses: [Int: Duration] = [:]
        var answers: String
    }

    private static func patient(
        _ title: String, _ calls: String, _ answers: String, pauses: [Int: Duration] = [:]
    ) -> Story {
        Story(
            testDescription: title, failures: 5, window: .seconds(15), recovery: .seconds(30), calls: calls,
            pauses: pauses, answers: answers)
    }

    private static func quick(
        _ title: String, _ calls: String, _ answers: String, pauses: [Int: Duration] = [:]
    ) -> Story {
        Story(
            testDescription: title, failures: 3, window: .seconds(10), recovery: .seconds(20), calls: calls,
            pauses: pauses, answers: answers)
    }

    private static func each(_ pause: Duration, _ count: Int) -> [Int: Duration] {
        Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, pause) })
    }

    static let stories = [
        patient("one success", ".", "."),
        patient("successes never trip", "......", "......"),
        patient("as many failures as are allowed trip", "xxxxxx", "xxxxx-"),
        patient("successes in between take no failure back", "xx.x.xx.", "xx.x.xx-"),
        patient("a failure as old as the window counts", "xxxxxx", "xxxxx-", pauses: each(.milliseconds(3_750), 6)),
        // Here the two differ: there the oldest failures are kept, and no later burst trips the circuit.
        patient("an older one does not", "xxxxxx", "xxxxxx", pauses: each(.milliseconds(3_751), 6)),
        patient(
            "a burst after sparse failures trips", "xxxxxxxxxx.", "xxxxxxxxxx-",
            pauses: each(.seconds(16), 5)),
        quick("a probe that fails opens it again", "xxx.x.", "xxx-x-", pauses: [3: .seconds(20)]),
        quick("a probe that succeeds closes it", "xxx..", "xxx-.", pauses: [3: .seconds(20)]),
        quick("a closed circuit begins to count anew", "xxx.xx.", "xxx.xx.", pauses: [2: .seconds(20)]),
        quick("nothing is let through before its time", "xxx.", "xxx-", pauses: [2: .milliseconds(19_999)]),
    ]

    @Test(arguments: stories) func answers(story: Story) async throws {
        #expect(try await self.answers(story, calls: CallPolicy()) == story.answers)
    }

    /// There a strategy says which errors trip; here they are classified.
    @Test func errorsThatTheUserNamesNeverTrip() async throws {
        var calls = CallPolicy()
        calls.classify = { error in
            switch error {
            case is CallFailure: .ignored
            default: CallPolicy().classify(error)
            }
        }
        let story = Self.quick("", "xxxxxxxx.", "xxxxxxxx.")
        #expect(try await self.answers(story, calls: calls) == story.answers)
    }

    /// There what is cancelled is made up of the operations; here it may also be the calls themselves.
    @Test(arguments: [false, true]) func cancelledCallsNeverTrip(areOperationsCancelled: Bool) async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker(trip: .failures(3, within: .seconds(10)))
        let begun = CircuitCounters()
        let operations = (0..<3).map { _ in Task { try await Task.sleep(for: .seconds(3_600)) } }
        let calls = operations.map { operation in
            Task {
                try await breaker.run {
                    begun.add()
                    try await withTaskCancellationHandler {
                        try await operation.value
                    } onCancel: {
                        operation.cancel()
                    }
                }
            }
        }
        let good = Barrier(2)
        let fourth = Task {
            try await breaker.run {
                begun.add()
                await good.arrive()
                return "ok"
            }
        }
        #expect(await eventually { begun.count == 4 })
        if areOperationsCancelled {
            for operation in operations { operation.cancel() }
        } else {
            for call in calls { call.cancel() }
        }
        for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
        await good.arrive()
        #expect(try await fourth.value == "ok")
        #expect(breaker.failureCount == 0)
        #expect(breaker.state == .closed)
    }

    /// There that is measured on a device: healthy calls leave nothing behind.
    @Test func manyHealthyCallsWriteNothing() async throws {
        let fixture = try StoreFixture()
        let breaker = try fixture.breaker()
        try await breaker.run {}
        let commits = fixture.commits
        for number in 0..<100_000 {
            let value = try await breaker.run { number }
            if value != number { Issue.record("\(value) in place of \(number)") }
            fixture.clock.advance(by: .milliseconds(1))
        }
        // The store's thread tells the file every 5 s how many calls there were; the calls themselves commit nothing.
        #expect(fixture.commits <= commits + 100 / 5)
        #expect(breaker.failureCount == 0)
    }

    private func answers(_ story: Story, calls: CallPolicy) async throws -> String {
        let fixture = try StoreFixture()
        let config = CircuitBreaker.Config(
            name: "test", group: "moved", recoveryTimeout: story.recovery, maxFailures: story.failures,
            rollingWindow: story.window)
        let breaker = try fixture.store.breaker(config, calls: calls)
        var answers = ""
        for (number, call) in story.calls.enumerated() {
            do {
                answers += try await breaker.run {
                    if call == "x" { throw CallFailure(number: number) }
                    return "."
                }
            } catch let refusal as CircuitOpenError {
                #expect(refusal.name == "test" && refusal.group == "moved")
                answers += "-"
            } catch {
                // Its own error, as the operation threw it.
                #expect(error as? CallFailure == CallFailure(number: number))
                answers += "x"
            }
            fixture.clock.advance(by: story.pauses[number] ?? .seconds(1))
        }
        return answers
    }
}

import BreakerStore
import Testing

/// Values that are failures, and what comes in their place.
@Suite struct ValueFailureTests {
    private let fixture: StoreFixture
    private let breaker: CircuitBreaker

    init() throws {
        self.fixture = try StoreFixture()
        self.breaker = try self.fixture.breaker(trip: .failures(100, within: .seconds(60)))
    }

    private var lastError: String? { get throws { try self.fixture.store.circuit(named: "a")?.lastError } }

    private func failure(_ status: Int) -> (any Error)? { status >= 500 ? CallFailure(number: status) : nil }

    @Test func aValueCountsAsItsError() async throws {
        #expect(try await self.breaker.run({ 200 }, failure: self.failure) == 200)
        #expect(try synchronously { try self.breaker.run({ 201 }, failure: self.failure) } == 201)
        #expect(self.breaker.failureCount == 0)
        #expect(try await self.breaker.run({ 503 }, failure: self.failure) == 503)
        #expect(try synchronously { try self.breaker.run({ 504 }, failure: self.failure) } == 504)
        #expect(self.breaker.failureCount == 2)
        #expect(try self.lastError == "CallFailure")
        await #expect(throws: CallFailure(number: 1)) {
            try await self.breaker.run({ throw CallFailure(number: 1) }, failure: self.failure)
        }
        #expect(self.breaker.failureCount == 3)
    }

    @Test func thePolicyJudgesAndDescribesTheError() async throws {
        var calls = CallPolicy()
        calls.classify = { ($0 as? CallFailure)?.number == 501 ? .ignored : .failure }
        calls.describe = { "status \(($0 as? CallFailure)?.number ?? 0)" }
        let breaker = try self.fixture.store.breaker(self.breaker.config, calls: calls)
        #expect(try await breaker.run({ 501 }, failure: self.failure) == 501)
        #expect(try await breaker.run({ 501 }, failure: self.failure, fallback: { _ in 1 }) == 501)
        #expect(breaker.failureCount == 0)
        #expect(try await breaker.run({ 503 }, failure: self.failure) == 503)
        #expect(breaker.failureCount == 1)
        #expect(try self.lastError == "status 503")
    }

    @Test func theFallbackGetsTheValuesError() async throws {
        let fallback: (any Error) async throws -> Int = { -(($0 as? CallFailure)?.number ?? 0) }
        #expect(try await self.breaker.run({ 200 }, failure: self.failure, fallback: fallback) == 200)
        #expect(try await self.breaker.run({ 503 }, failure: self.failure, fallback: fallback) == -503)
        #expect(
            try await self.breaker.run({ throw CallFailure(number: 7) }, failure: self.failure, fallback: fallback)
                == -7)
        #expect(self.breaker.failureCount == 2)
    }

    /// How long a value takes to be judged says nothing about the service.
    @Test func judgingIsNoPartOfTheCall() async throws {
        let slow = SlowCallRule(longerThan: .seconds(1), share: 1, minimumCalls: 1, within: .seconds(60))
        let breaker = try self.fixture.store.breaker(CircuitBreaker.Config(name: "slow", slow: slow))
        let judge: (Int) -> Bool = { _ in
            self.fixture.clock.advance(by: .seconds(5))
            return false
        }
        for _ in 0..<2 {
            #expect(try await breaker.run({ 200 }, failingWhen: judge) == 200)
            #expect(try synchronously { try breaker.run({ 200 }, failingWhen: judge) } == 200)
        }
        #expect(breaker.totals.slow == 0 && breaker.totals.succeeded == 4)
        #expect(breaker.state == .closed)
    }

    private struct Response {
        var status = 503
        var headers = ["Set-Cookie": "session=secret"]
        var body = "secret"
    }

    private class Message {}
    private final class Reply: Message, CustomStringConvertible {
        var description: String { "secret" }
    }

    /// Every process of the host can read what is stored: the value itself may be secret.
    @Test func aFailingValueIsDescribedByItsType() async throws {
        _ = try await self.breaker.run({ Response() }, failingWhen: { $0.status >= 500 })
        #expect(try self.lastError == "Response")
        _ = try synchronously { try self.breaker.run({ "secret" }, failingWhen: { _ in true }) }
        #expect(try self.lastError == "String")
        _ = try await self.breaker.run({ [UInt8](repeating: 7, count: 100_000) }, failingWhen: { _ in true })
        #expect(try self.lastError == "Array<UInt8>")
        _ = try await self.breaker.run({ nil as Int? }, failingWhen: { _ in true })
        #expect(try self.lastError == "Optional<Int>")
        _ = try await self.breaker.run({ (503, "secret") }, failingWhen: { $0.0 >= 500 })
        #expect(try self.lastError == "(Int, String)")
        // Of what is declared as something more general, the name of what it is.
        _ = try await self.breaker.run({ Reply() as Message }, failingWhen: { _ in true })
        #expect(try self.lastError == "Reply")
        _ = try await self.breaker.run({ Reply() as any CustomStringConvertible }, failingWhen: { _ in true })
        #expect(try self.lastError == "Reply")
    }

    @Test func nothingOfAFailingValueIsStoredOrReported() async throws {
        let breaker = try self.fixture.breaker("one", trip: .consecutiveFailures(1))
        _ = try await breaker.run({ Response() }, failingWhen: { $0.status >= 500 })
        let refusal = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(refusal?.lastError == "Response")
        let history = try await breaker.history()
        #expect(history.map(\.reason) == ["1 failure, the last: Response"])
        #expect(!"\(refusal as Any) \(history) \(try await breaker.snapshot())".contains("secret"))
    }

    /// A type may have a name of any length.
    @Test func theNameOfAValuesTypeIsCut() async throws {
        typealias Pair<Value> = (Value, Value)
        typealias Long = Pair<Pair<Pair<Pair<Pair<Pair<Pair<Int>>>>>>>
        _ = try await self.breaker.run({ nil as Long? }, failingWhen: { _ in true })
        #expect(try self.lastError?.count == 500)
    }
}

import BreakerStore
import BreakerTestSupport
import Testing

/// The examples in the documentation comments are the code of this folder, and do what is said of them.
@Suite struct ExampleTests {
    @Test(arguments: [
        "class CircuitStore", "class CircuitBreaker", "struct TripRule", "struct SlowCallRule", "struct CallPolicy",
        "struct RetryRule", "class CallPermit", "class ManualHostClock", "func temporary",
    ])
    func mainDeclarationHasItsExample(declaration: String) throws {
        let examples = try DocumentedCode.examples().filter { $0.declares(declaration) }
        let name = declaration.split(separator: " ").last.map(String.init)
        let snippets = try DocumentedCode.namedSnippets().filter { $0.name == name }
        #expect(examples.map(\.piece.code) == snippets.map(\.piece.code), "\(examples)\n\(snippets)")
        let lines = try #require(examples.first).piece.code.split(separator: "\n", omittingEmptySubsequences: false)
        #expect((4...15).contains(lines.count), "\(declaration) has an example of \(lines.count) lines")
    }

    @Test func eachExampleIsCompiledHere() throws {
        let snippets = Set(try DocumentedCode.namedSnippets().map(\.piece.code))
        for example in try DocumentedCode.examples() {
            #expect(snippets.contains(example.piece.code), "\(example.piece): no snippet reads so")
        }
    }

    @Test func eachSnippetIsAnExample() throws {
        let examples = Set(try DocumentedCode.examples().map(\.piece.code))
        for snippet in try DocumentedCode.namedSnippets() {
            #expect(examples.contains(snippet.piece.code), "\(snippet.piece): no documentation comment shows it")
        }
    }

    @Test func circuitAndPermit() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        #expect(try await StoreSnippets.circuit(store, API()) == "Ada")
        let users = try store.breaker(.init(name: "users"))
        try await StoreSnippets.permit(users, API(error: HTTPError(status: 500)))
        #expect(await eventually { users.failureCount == 1 })
        try await users.hold(.open)
        #expect(try await StoreSnippets.circuit(store, API()).hasPrefix("try again"))
        await #expect(throws: CircuitOpenError.self) { try await StoreSnippets.permit(users, API()) }
    }

    @Test func rules() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let circuits = try store.breakers(RuleSnippets.trips())
        #expect(circuits.map(\.config.trip.count) == [5, nil, 3])
        #expect(try await RuleSnippets.slow(store, API()) == "Ada")
        #expect(try store.breaker(named: "search").config.slow?.threshold == .seconds(2))
    }

    @Test func policies() async throws {
        let store = try StoreFixture.makeStore()
        defer { store.close() }
        let users = try RuleSnippets.policy(store)
        await users.recordFailure(HTTPError(status: 404))
        #expect(users.failureCount == 0)
        await users.recordFailure(HTTPError(status: 503))
        #expect(users.failureCount == 1)
        #expect(try await RuleSnippets.retries(store, API()) == "Ada")
    }
}

import BreakerTestSupport
import Testing

/// Programs of users: each form of `run`, in each spelling, with each kind of operation and fallback, in each place.
///
/// Warnings are errors, so `await` before a call that got a synchronous form doesn't compile, and neither does a call
/// without `await` that got an asynchronous one.
@Suite(.ownDirectory, .timeLimit(.minutes(10))) struct CallMatrixTests {
    @Test(arguments: [5, 6]) func eachCallCompilesAndDoesWhatItsFormPromises(mode: Int) async throws {
        for (name, client) in [("async", CallingClient.asynchronous), ("sync", CallingClient.synchronous)] {
            let program = try SwiftClient(client.files, named: name)
            let compiler = try await program.build(mode: mode)
            try #require(compiler.code == 0, "\(name), Swift \(mode):\n\(compiler.output)")
            let run = try await program.run()
            #expect(run.code == 0)
            let said = run.output.split(separator: "\n").map(String.init)
            #expect(said.count == client.expectation.count, "\(said.suffix(5))")
            for (said, expected) in zip(said, client.expectation) { #expect(said == expected) }
        }
    }

    /// No combination is left out by mistake.
    @Test func countsOfCalls() {
        // 5 forms and 2 operations, with 2 fallbacks for two of the forms: 14, in 4 spellings.
        #expect(WrittenCall.all(in: .actor, isAsync: true).count == 56)
        #expect(WrittenCall.all(in: .actor, isAsync: false).count == 16)
        #expect(CallingClient.asynchronous.calls.count == 4 * 56 + 3 * 16)
        #expect(Set(CallingClient.asynchronous.calls).count == 4 * 56 + 3 * 16)
    }

    /// What the matrix relies on: the compiler complains of the wrong form.
    @Test func theCompilerTellsTheFormsApart() async throws {
        let complaints = [
            ("_ = try await form { 1 }", "no 'async' operations occur within 'await'"),
            ("_ = try breaker.run { 1 }", "expression is 'async' but is not marked with 'await'"),
            ("_ = try breaker.run({ 1 }, failure: { _ in nil }, fallback: { _ in 2 })", "not marked with 'await'"),
            ("", ""),
        ]
        for (number, (statement, complaint)) in complaints.enumerated() {
            let source = """
                import BreakerStore
                func call(_ breaker: CircuitBreaker) async throws {
                    let form: (() throws -> Int) throws -> Int = breaker.run
                    _ = try form { 1 }
                    \(statement)
                }

                """
            let compiler = try await SwiftClient(["Client.swift": source], named: "\(number)").check(mode: 6)
            #expect((compiler.code != 0) == !complaint.isEmpty, "\(compiler.output)")
            #expect(complaint.isEmpty || compiler.output.contains(complaint), "\(compiler.output)")
        }
    }
}

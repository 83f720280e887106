/// The source of a program that makes calls, each in its place, and prints a line for each trial of each call.
struct CallingClient: Sendable {
    let calls: [WrittenCall]

    /// All places where asynchronous code may be, with the synchronous code that is called from there.
    static let asynchronous = CallingClient(
        calls: WrittenCall.Place.allCases.flatMap { place in
            WrittenCall.all(in: place, isAsync: true)
                + (place == .topLevel ? [] : WrittenCall.all(in: place, isAsync: false))
        })

    /// A program that awaits nothing.
    static let synchronous = CallingClient(
        calls: WrittenCall.all(in: .topLevel, isAsync: false) + WrittenCall.all(in: .function, isAsync: false))

    /// The lines that it must print.
    var expectation: [String] {
        Trial.allCases.flatMap { trial in
            self.calls.map { "\($0), \(trial.rawValue): \($0.outcome(of: trial))" }
        }
    }

    /// The text of each file, by its name.
    var files: [String: String] { ["main.swift": self.main, "Calls.swift": self.functions, "Test.swift": Self.test] }

    private var isAsync: Bool { self.calls.contains { $0.isAsync } }

    private func calls(in place: WrittenCall.Place) -> [WrittenCall] { self.calls.filter { $0.place == place } }

    private var main: String {
        """
        import BreakerStore

        let test = try Test()
        let breaker = test.breaker
        for trial in Trial.allCases {
            try test.prepare(trial)
        \(self.calls(in: .topLevel).map { Self.trial(of: $0) }.joined(separator: "\n"))
            \(self.isAsync ? "try await calls(test, trial)" : "try calls(test, trial)")
        \(self.isAsync ? "    try await Caller().calls(test, trial)\n    try await Screen().calls(test, trial)" : "")
        }
        test.store.close()

        """
    }

    private static func trial(of call: WrittenCall) -> String {
        """
        do {
            test.begin()
            \((call.preparations + ["let value: Value = \(call.expression)"]).joined(separator: "\n    "))
            test.end("\(call)", trial, "\\(value.number)")
        } catch {
            test.end("\(call)", trial, "\\(type(of: error))")
        }
        """
    }

    private var functions: String {
        """
        import BreakerStore

        \(self.functions(in: .function))
        actor Caller {
        \(self.functions(in: .actor))
        }

        @MainActor final class Screen {
        \(self.functions(in: .mainActor))
        }

        """
    }

    /// A function for each call: the compiler takes very long for one that awaits hundreds.
    private func functions(in place: WrittenCall.Place) -> String {
        let calls = self.calls(in: place)
        let functions = calls.enumerated().map { number, call in
            """
            func call\(number)(_ test: Test, _ trial: Trial) \(call.isAsync ? "async " : ""){
                let breaker = test.breaker
            \(Self.trial(of: call))
            }
            """
        }
        let all = calls.enumerated().map { number, call in
            "    \(call.isAsync ? "await " : "")call\(number)(test, trial)"
        }
        return """
            \(Self.work)
            \(functions.joined(separator: "\n"))
            func calls(_ test: Test, _ trial: Trial) \(self.isAsync ? "async " : "")throws {
            \(all.joined(separator: "\n"))
            }
            """
    }

    /// What is called; in an actor these are its own functions.
    private static let work = """
        func work() throws -> Value { try Test.work() }
        func workLater() async throws -> Value {
            await Task.yield()
            return try Test.work()
        }
        func instead(_ error: any Error) throws -> Value { Value(number: 2) }
        func insteadLater(_ error: any Error) async throws -> Value {
            await Task.yield()
            return Value(number: 4)
        }
        func isBad(_ value: Value) -> Bool { value.number == 3 }
        func error(_ value: Value) -> (any Error)? { value.number == 3 ? Failure() : nil }
        """

    // The value is Sendable: in Swift 6 mode no function of another isolation can be passed otherwise.
    private static let test = """
        import BreakerStore

        struct Value: Sendable { var number: Int }
        struct Failure: Error {}
        enum Trial: String, CaseIterable { case \(Trial.allCases.map(\.rawValue).joined(separator: ", ")) }

        struct Test: Sendable {
            // One call is made after the other.
            nonisolated(unsafe) static var trial = Trial.good
            nonisolated(unsafe) static var runs = 0
            nonisolated(unsafe) static var failures = 0

            let store: CircuitStore
            let breaker: CircuitBreaker

            init() throws {
                var configuration = CircuitStore.Configuration()
                configuration.clock = ManualHostClock()
                configuration.busyTimeout = .seconds(120)
                self.store = try CircuitStore.temporary(configuration: configuration)
                self.breaker = try self.store.breaker(.init(name: "a", trip: .failures(10_000, within: .seconds(60))))
            }

            static func work() throws -> Value {
                self.runs += 1
                switch self.trial {
                case .good, .refused: return Value(number: 1)
                case .throwing: throw Failure()
                case .bad: return Value(number: 3)
                }
            }

            func prepare(_ trial: Trial) throws {
                Self.trial = trial
                if trial == .refused { try self.store.hold("a", .open) }
            }

            func begin() {
                Self.runs = 0
                Self.failures = self.breaker.failureCount
            }

            func end(_ call: String, _ trial: Trial, _ result: String) {
                let failures = self.breaker.failureCount - Self.failures
                print("\\(call), \\(trial.rawValue): \\(result) failures=\\(failures) runs=\\(Self.runs)")
            }
        }

        """
}

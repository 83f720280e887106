/// A call of `run` as a user may write it.
struct WrittenCall: Hashable, Sendable, CustomStringConvertible {
    enum Form: String, CaseIterable, Sendable {
        case plain = "run(_:)"
        case fallback = "run(_:fallback:)"
        case failingWhen = "run(_:failingWhen:)"
        case failure = "run(_:failure:)"
        case failureAndFallback = "run(_:failure:fallback:)"

        var labels: [String] {
            switch self {
            case .plain: []
            case .fallback: ["fallback"]
            case .failingWhen: ["failingWhen"]
            case .failure: ["failure"]
            case .failureAndFallback: ["failure", "fallback"]
            }
        }

        var hasFallback: Bool { self.labels.contains("fallback") }
    }

    enum Spelling: String, CaseIterable, Sendable {
        /// Closures that the user keeps, of types that the user wrote.
        case closure
        case trailing
        case parentheses
        case reference
    }

    /// Where the call is made; in an actor and on the main actor what it calls is isolated there, too.
    enum Place: String, CaseIterable, Sendable {
        case topLevel
        case function
        case actor
        case mainActor
    }

    var form: Form
    var place: Place
    var spelling: Spelling
    /// Whether the code around the call is asynchronous.
    var isAsync: Bool
    var isOperationAsync: Bool
    var isFallbackAsync: Bool

    /// All calls that the language and the contract know in such a place.
    static func all(in place: Place, isAsync: Bool) -> [WrittenCall] {
        // Synchronous code has nothing asynchronous to pass.
        let kinds = isAsync ? [false, true] : [false]
        return Form.allCases.flatMap { form -> [WrittenCall] in
            // This form is asynchronous only.
            if form == .failureAndFallback, !isAsync { return [] }
            return kinds.flatMap { isOperationAsync in
                (form.hasFallback ? kinds : [false]).flatMap { isFallbackAsync in
                    Spelling.allCases.map { spelling in
                        WrittenCall(
                            form: form, place: place, spelling: spelling, isAsync: isAsync,
                            isOperationAsync: isOperationAsync, isFallbackAsync: isFallbackAsync)
                    }
                }
            }
        }
    }

    /// Whether the compiler is to choose an asynchronous form.
    ///
    /// To the compiler the top level of a file is never asynchronous: as long as nothing of the call must be
    /// asynchronous, it takes the synchronous form there, whatever the declarations are.
    var isSuspending: Bool {
        guard self.place == .topLevel else { return self.isAsync }
        return self.isOperationAsync || self.isFallbackAsync || self.form == .failureAndFallback
    }

    var description: String {
        let operation = self.isOperationAsync ? "async" : "sync"
        let fallback = self.form.hasFallback ? " and a \(self.isFallbackAsync ? "async" : "sync") fallback" : ""
        let code = self.isAsync ? "async" : "sync"
        return "\(self.form.rawValue) of a \(operation) operation\(fallback), \(self.spelling.rawValue), "
            + "in \(code) code, \(self.place.rawValue)"
    }

    // MARK: - What it does

    /// The number of the value, or the error's type, and how many failures it counts and how often its operation runs.
    func outcome(of trial: Trial) -> String {
        let fallback = self.isFallbackAsync ? "4" : "2"
        switch trial {
        case .good: return "1 failures=0 runs=1"
        case .throwing: return "\(self.form.hasFallback ? fallback : "Failure") failures=1 runs=1"
        case .refused: return "\(self.form.hasFallback ? fallback : "CircuitOpenError") failures=0 runs=0"
        case .bad:
            switch self.form {
            case .plain, .fallback: return "3 failures=0 runs=1"
            case .failingWhen, .failure: return "3 failures=1 runs=1"
            case .failureAndFallback: return "\(fallback) failures=1 runs=1"
            }
        }
    }

    // MARK: - Its source text

    /// What must stand before the call.
    var preparations: [String] {
        guard self.spelling == .closure else { return [] }
        let operation = "let operation: () \(Self.effects(self.isOperationAsync)) -> Value = { \(self.operationCall) }"
        return [operation]
            + self.form.labels.map { "let \($0): \(self.type(of: $0)) = { \(self.call(of: $0)) }" }
    }

    /// The call, its `try` and `await` included.
    var expression: String {
        let labels = self.form.labels
        let arguments: String
        switch self.spelling {
        case .closure:
            arguments = "(" + (["operation"] + labels.map { "\($0): \($0)" }).joined(separator: ", ") + ")"
        case .trailing:
            arguments =
                " { \(self.operationCall) }" + labels.map { " \($0): { \(self.call(of: $0)) }" }.joined()
        case .parentheses:
            let closures = labels.map { "\($0): { \(self.call(of: $0)) }" }
            arguments = "(" + (["{ \(self.operationCall) }"] + closures).joined(separator: ", ") + ")"
        case .reference:
            let references = labels.map { "\($0): \(self.function(of: $0))" }
            arguments = "(" + ([self.operation] + references).joined(separator: ", ") + ")"
        }
        return "try \(self.isSuspending ? "await " : "")breaker.run\(arguments)"
    }

    private static func effects(_ isAsync: Bool) -> String { isAsync ? "async throws" : "throws" }

    private var owner: String { self.place == .actor || self.place == .mainActor ? "self." : "" }
    private var operation: String { self.owner + (self.isOperationAsync ? "workLater" : "work") }
    private var operationCall: String { "try \(self.isOperationAsync ? "await " : "")\(self.operation)()" }

    private func function(of label: String) -> String {
        switch label {
        case "failingWhen": self.owner + "isBad"
        case "failure": self.owner + "error"
        default: self.owner + (self.isFallbackAsync ? "insteadLater" : "instead")
        }
    }

    private func call(of label: String) -> String {
        let effects = label == "fallback" ? "try \(self.isFallbackAsync ? "await " : "")" : ""
        return "\(effects)\(self.function(of: label))($0)"
    }

    private func type(of label: String) -> String {
        switch label {
        case "failingWhen": "(Value) -> Bool"
        case "failure": "(Value) -> (any Error)?"
        default: "(any Error) \(Self.effects(self.isFallbackAsync)) -> Value"
        }
    }
}

/// The failure of a verb: a message, a hint, and the exit code.
package struct Failure: Error, Equatable, Sendable {
    /// The advice to the user.
    package enum Hint: Equatable, Sendable {
        case text(String)
        /// The help of the program, or of one of its verbs.
        case help(verb: String?)
    }

    package var code: ExitCode
    package var message: String
    package var hint: Hint?

    package init(_ code: ExitCode, _ message: String, hint: String? = nil) {
        self.code = code
        self.message = message
        self.hint = hint.map { .text($0) }
    }

    /// The failure for a wrong command line; without a hint of its own it refers to the help.
    package static func usage(_ message: String, hint: String? = nil, verb: String? = nil) -> Failure {
        var failure = Failure(.usage, message, hint: hint)
        if hint == nil { failure.hint = .help(verb: verb) }
        return failure
    }
}

extension Console {
    /// Writes the message and the hint.
    package func writeError(_ failure: Failure, of program: Program) {
        self.writeError("\(program.name): \(failure.message)\n")
        switch failure.hint {
        case .text(let hint): self.writeError("hint: \(hint)\n")
        case .help(let verb):
            let topic = verb.map { " \($0)" } ?? ""
            self.writeError("hint: '\(program.name) help\(topic)' shows what there is\n")
        case nil: break
        }
    }
}

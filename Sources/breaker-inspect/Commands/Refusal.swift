import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// The refusal of a call, as the verbs that ask for a call report it.
struct Refusal {
    private let error: CircuitOpenError
    /// Whether the circuit is open because the provider has declared an outage, and not by a rule of this host.
    private let isDeclared: Bool

    init(_ error: CircuitOpenError, isDeclared: Bool) {
        self.error = error
        self.isDeclared = isDeclared
    }

    /// One line, such as `refused: open, retry in 41 s`.
    var line: String {
        switch self.error.cause {
        case .open: "refused: open\(self.isDeclared ? ", the provider has declared an outage" : "")\(self.retry)"
        case .probing: "refused: probing, no other call is let through now"
        case .held: "refused: held open\(self.operator)\(self.retry)\(self.reason)"
        }
    }

    /// Writes the line as a message, or the document to the output if the user asked for JSON.
    func write(in context: Context) {
        if context.isJSON {
            context.console.write(JSONDocument.refused(self.error, at: context.now))
        } else {
            context.console.writeError(self.line + "\n")
        }
    }

    private var retry: String {
        self.error.retryAfter.map { ", retry in \(max($0, .milliseconds(1)).brief(roundsUp: true))" } ?? ""
    }

    private var `operator`: String { self.error.hold?.by.map { " by \($0.escaped)" } ?? "" }

    private var reason: String { self.error.hold?.reason.map { ": \($0.escaped)" } ?? "" }
}

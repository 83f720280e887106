import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The refusal of a call, as the verbs that ask for a call report it.
struct Refusal {
    private let error: CircuitOpenError
    /// Whether the circuit is open because the provider has declared an outage, and not by a rule of this host.
    private let isDeclared: Bool

    init(_ error: CircuitOpenError, isDeclared: Bool) {
        self.error = error
        self.isDeclared = isDeclared
    }

    /// The refusal of a hold or of an open state, in a file that can be read, though not be written.
    ///
    /// Nil if the circuit refuses no call, or only because a probe runs, and if the file can't be read.
    init?(readingOnly name: String, in context: Context) {
        let found = try? Selection(name: name).gather(
            into: InspectedCircuit?.none, countingWorkers: false, in: context
        ) { $0 = $1 }
        guard let circuit = found?.value else { return nil }
        self.init(circuit)
    }

    /// The refusal of a call now; nil if the circuit refuses none, or only because a probe runs.
    init?(_ circuit: InspectedCircuit) {
        guard circuit.isRefusing else { return nil }
        let snapshot = circuit.snapshot
        var error = CircuitOpenError(name: snapshot.name, group: snapshot.config.group, lastError: snapshot.lastError)
        if let hold = snapshot.hold {
            (error.cause, error.hold) = (.held, hold)
            error.retryAfter = hold.until.map { .seconds(max(0, $0.timeIntervalSince(circuit.now))) }
        } else if case .open(let until) = snapshot.state {
            error.retryAfter = .seconds(max(0, until.timeIntervalSince(circuit.now)))
        } else {
            return nil
        }
        self.init(error, isDeclared: false)
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

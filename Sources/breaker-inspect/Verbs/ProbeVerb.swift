import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `probe`: makes open circuits admit probes before these are due.
struct ProbeVerb: Verb {
    static let name = "probe"
    static let synopsis = "(NAME|PATTERN… | --group GROUP | --all)"
    static let operands: [Operand] = [.many(.circuit)]
    static let summary = "let the probes of open circuits through now"
    static let details = """
        An open circuit stays open, and its next call tries the service: if that goes
        well, the circuit closes. A reset would send all traffic at once.
        A name is probed at once; what a pattern, --group or --all matches is shown
        first, and you are asked.
        Circuits that are closed, held, or let probes through already are left alone.
        """ + "\n" + Change.details
    static let options = Change.options

    private let change: Change

    init(_ arguments: Arguments) throws(Failure) {
        self.change = try Change(arguments, operands: arguments.operands, verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let plan = Change.Plan(
            question: "probe",
            expected: { $0.snapshot.waits(at: $0.now) ? StateWord.open.rawValue : nil },
            note: { _ in ", probes let through" },
            members: { _ in ["probeAllowed": .bool(true)] },
            nothingToDo: "nothing there waits for its probe\n",
            begin: { (store, selectors, _) throws(BreakerStoreError) in
                try store.command(.probe, on: selectors, by: context.who, reason: self.change.reason)
            }
        )
        return try self.change.run(plan, in: context)
    }
}

extension CircuitSnapshot {
    /// Whether the circuit is open and admits no probe yet; dates are exact to the microsecond.
    fileprivate func waits(at now: Date) -> Bool {
        if case .open(let until) = self.state { until.timeIntervalSince(now) > 0.000_001 } else { false }
    }
}

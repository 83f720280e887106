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
        With --wait and one name it waits for a call to probe, and says how that
        ended: exit code 0 if the circuit is closed, 3 if it is open again or held
        open, 124 if the time is over.
        """ + "\n" + Change.details
    static let wait = Option("wait", "DURATION", help: "how long to wait for the end of the probe of one circuit")
    static let options = Change.options + [Self.wait]

    private let change: Change
    private let waiting: ProbeWait?

    init(_ arguments: Arguments) throws(Failure) {
        self.waiting = try ProbeWait(arguments)
        self.change = try Change(arguments, operands: arguments.operands, verb: Self.self)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let plan = Change.Plan(
            question: "probe",
            expected: { $0.snapshot.waits(at: $0.now) ? StateWord.open.rawValue : nil },
            sentence: "its next call is a probe",
            members: { _ in ["probeAllowed": .bool(true)] },
            nothingToDo: "no circuit there is open before its time\n",
            nothingToDoWith: { "\($0.snapshot.name.escaped) \($0.whyNoProbe)\n" },
            begin: { (store, selectors, _) throws(BreakerStoreError) in
                try store.command(.probe, on: selectors, by: context.who, reason: self.change.reason)
            }
        )
        guard let waiting = self.waiting else { return try self.change.run(plan, in: context) }
        let newest = try waiting.newestEvent(in: context)
        let code = try self.change.run(plan, in: context)
        return code == .done ? try waiting.wait(after: newest, in: context) : code
    }
}

extension CircuitSnapshot {
    /// Whether the circuit is open and admits no probe yet; dates are exact to the microsecond.
    fileprivate func waits(at now: Date) -> Bool {
        if case .open(let until) = self.state { until.timeIntervalSince(now) > 0.000_001 } else { false }
    }
}

extension InspectedCircuit {
    /// What the circuit does, as the reason why nothing is to be probed.
    fileprivate var whyNoProbe: String {
        if let hold = self.snapshot.hold { return "is \(hold.sentence(at: self.now))" }
        if self.snapshot.isDue { return "needs none: its next call is a probe" }
        guard case .halfOpen = self.snapshot.state else { return "is closed" }
        let probers = self.snapshot.probes.map {
            "\($0.prober.escaped) has probed for \(max(.zero, self.now.since($0.since)).readable)"
        }
        return "is half-open: "
            + (probers.isEmpty ? "its next call is a probe" : probers.joined(separator: ", "))
    }
}

#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON
import BreakerTool

extension Option {
    static let reason = Option("reason", "TEXT", help: "why, for the histories of the hosts and of the fleet")
    static let asName = Option("as", "NAME", help: "who does it; by default your login name")
    static let yes = Option("yes", help: "don't ask")
    static let dryRun = Option("dry-run", help: "show what would change, and change nothing")
}

/// The common steps of the verbs that give a command to all hosts: find, ask, give, report.
struct Change {
    static let options: [Option] = [.reason, .yes, .dryRun, .asName]
    static let operands: [Operand] = [.many(.text)]
    /// The end of the verbs' descriptions.
    static let details = """
        All hosts that are joined obey within two seconds; a host that is cut off obeys
        once it is joined again. NAME is a circuit's name in 'breaker-fleet status
        --all', never a pattern. The circuit can also be changed on any host, with
        'breaker-inspect': that reaches all hosts, too.
        """

    /// What one verb does.
    struct Plan {
        var action: OperatorAction
        /// The verb in a message, such as "reset".
        var verb: String
        /// The new state of a circuit; nil if the circuit needs no change.
        var expected: (FleetCircuit) -> String?
        /// The text after a circuit's new state.
        var note = ""
        /// A warning that the command ends another operator's hold; nil if it ends none, or is meant to.
        var warning: String?
        var nothingToDo = ""
    }

    /// A circuit and its states before and after the command.
    private struct Planned {
        var circuit: FleetCircuit
        var from: String
        var to: String
    }

    private let names: [String]
    private let settings: Settings
    private let reason: String?
    private let operatorName: String?
    private let isConfirmed: Bool
    private let isDryRun: Bool

    init(
        _ arguments: Arguments, _ settings: Settings, operands: [String], verb: any Verb.Type
    ) throws(Failure) {
        guard !operands.isEmpty else { throw .usage("'\(verb.name)' needs a circuit's name", verb: verb.name) }
        // A second command for the same circuit would be refused: the first has changed the register.
        self.names = operands.withoutRepeats
        self.settings = settings
        self.reason = arguments[.reason]
        self.operatorName = arguments[.asName]
        self.isConfirmed = arguments.has(.yes)
        self.isDryRun = arguments.has(.dryRun)
    }

    /// Carries out the plan, unless the operator declines.
    func run(_ plan: Plan, in context: Context) throws(Failure) -> ExitCode {
        let server = try FleetServer(for: self.settings)
        let fleet = self.settings.fleetName
        let status = try server.asked { (server) throws(FleetError) in try server.status(of: fleet) }
        let found = try self.names.map { (name) throws(Failure) in try status.circuit(name) }
        let planned = found.compactMap { circuit in
            plan.expected(circuit).map { Planned(circuit: circuit, from: status.word(of: circuit), to: $0) }
        }
        let who = self.operatorName ?? context.console.loginName
        let holds = plan.warning == nil ? [] : planned.compactMap { $0.circuit.lineIfHeldByAnother(than: who) }
        if planned.isEmpty { context.console.writeError(plan.nothingToDo) }
        if !holds.isEmpty, !self.isConfirmed, !self.isDryRun, try !Self.ask(plan, holds, in: context) {
            context.console.writeError("nothing was changed\n")
            return .declined
        }
        var given: [Planned] = []
        var failure: Failure?
        for change in planned where failure == nil {
            do throws(Failure) {
                try self.give(plan, change.circuit, by: who, at: server)
                given.append(change)
            } catch {
                failure = error
            }
        }
        self.report(given, plan, status, in: context)
        if let failure { throw failure }
        return .done
    }

    private func give(
        _ plan: Plan, _ circuit: FleetCircuit, by who: String, at server: FleetServer
    ) throws(Failure) {
        if self.isDryRun { return }
        let fleet = self.settings.fleetName
        let isGiven = try server.asked { (server) throws(FleetError) in
            try server.give(plan.action, to: circuit, of: fleet, by: who, reason: self.reason)
        }
        guard isGiven else {
            throw Failure(
                .failed, "an operator has just changed \(circuit.name.quoted), so it was left alone",
                hint: "look at '\(FleetProgram.name) status --all', then try again")
        }
    }

    private static func ask(_ plan: Plan, _ holds: [String], in context: Context) throws(Failure) -> Bool {
        guard context.console.canAsk else {
            throw Failure(
                .usage, "\(holds[0]); to \(plan.verb) it needs confirmation, and there is no terminal to ask on",
                hint: "give --yes to confirm, or --dry-run to see what it would change")
        }
        for line in holds { context.console.writeError("\(line)\n") }
        context.console.writeError("\(plan.warning ?? "") Go on? [y/N] ")
        let answer = context.console.readLine()
        // If the input has ended, the cursor is still behind the question.
        if answer == nil { context.console.writeError("\n") }
        return ["y", "yes"].contains(answer?.lowercased())
    }

    private func report(_ changes: [Planned], _ plan: Plan, _ status: FleetStatus, in context: Context) {
        let joined = status.hosts.count { $0.link == .joined }
        let cutOff = status.hosts.filter { $0.link == .cutOff }.map(\.name)
        guard !context.isJSON else {
            let values = changes.map { change in
                JSONValue.object([
                    "name": .string(change.circuit.name), "from": .string(change.from), "to": .string(change.to),
                    "holdEndsIn": plan.action.holdTime.map { .number($0 / .seconds(1)) } ?? .null,
                ])
            }
            return context.console.write(
                JSONValue.document([
                    "changes": .array(values), "dryRun": .bool(self.isDryRun), "joined": .count(joined),
                    "cutOff": .array(cutOff.map { .string($0) }),
                ]))
        }
        for change in changes {
            context.console.write("\(change.circuit.name.escaped)  \(change.from) -> \(change.to)\(plan.note)\n")
        }
        guard !changes.isEmpty else { return }
        if self.isDryRun { return context.console.writeError("dry run: nothing was changed\n") }
        context.console.writeError("\(joined.counted("host")) joined\n")
        for name in cutOff {
            context.console.writeError("\(name) is cut off, and obeys once it is joined again\n")
        }
    }
}

extension OperatorAction {
    /// How long the hold is to last; nil for until it is released, and for other commands.
    fileprivate var holdTime: Duration? { if case .hold(_, for: let duration) = self { duration } else { nil } }
}

extension FleetStatus {
    /// The circuit that an operator names.
    func circuit(_ name: String) throws(Failure) -> FleetCircuit {
        if let circuit = self.circuit(named: name) { return circuit }
        let nearest = Spelling.nearest(to: name, among: self.circuits.map(\.name))
        throw Failure(
            .noSuchCircuit, "the fleet \(self.fleet.quoted) has no circuit \(name.quoted)",
            hint: nearest.map { "did you mean \($0.quoted)?" } ?? "'\(FleetProgram.name) status --all' lists all")
    }

    /// A circuit's state in a word, also of one that only single hosts have opened.
    fileprivate func word(of circuit: FleetCircuit) -> String {
        self.isOpenOnSingleHosts(circuit) ? "open on single hosts" : circuit.word
    }
}

extension FleetCircuit {
    /// A line about the circuit's hold; nil if the operator holds it, or nobody does.
    fileprivate func lineIfHeldByAnother(than who: String) -> String? {
        guard let hold = self.hold, !(hold.by?.utf8.elementsEqual(who.utf8) ?? false) else { return nil }
        let reason = hold.reason.map { ": \($0)" } ?? ""
        return "\(self.name.escaped) is held \(hold.state.rawValue) by \(hold.by ?? "an unknown operator") for "
            + "\(Duration.microseconds(hold.age).brief())\(reason)"
    }
}
#endif

#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `history`: prints what has happened to a circuit on all hosts, as the server knows it.
struct HistoryVerb: Verb {
    static let name = "history"
    static let synopsis = "NAME"
    static let operands: [Operand] = [.one(.text)]
    static let summary = "show the last changes of a circuit on all hosts"
    static let details = """
        The server keeps the newest 50 changes of each circuit: trips of the fleet,
        outcomes of its probes, and operators' commands, for all hosts; and since when
        single hosts have opened it by their own rules (own-trip, own-end). HOST is the
        host whose link has reported it, WHO the operator. Calls, probes and what a
        host did while it was cut off stand in the host's own file: see
        'breaker-inspect history' there. Links of 0.6.0 add nothing.
        """
    static let options: [Option] = []

    private let circuit: String
    private let settings: Settings

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        guard arguments.operands.count == 1 else { throw .usage("'history' takes one circuit's name", verb: Self.name) }
        self.circuit = arguments.operands[0]
        self.settings = settings
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let server = try FleetServer(for: self.settings)
        let fleet = self.settings.fleetName
        let status = try server.asked { (server) throws(FleetError) in try server.status(of: fleet) }
        let circuit = try status.circuit(self.circuit)
        let events = try server.asked { (server) throws(FleetError) in try server.history(of: circuit, of: fleet) }
        if context.isJSON {
            context.console.write(
                JSONValue.document(["circuit": circuit.json, "events": .array(events.map { $0.json })]))
        } else if events.isEmpty {
            context.console.writeError("nothing has happened to \(circuit.name.quoted) that the server knows of\n")
        } else {
            context.console.write(Self.table(events).text(width: context.console.width, context.style))
        }
        return .done
    }

    private static func table(_ events: [FleetEvent]) -> Table {
        var table = Table(columns: [
            .init(title: "WHEN", isRightAligned: true), .init(title: "EVENT"), .init(title: "HOST", isName: true),
            .init(title: "WHO", minimumWidth: 8), .init(title: "REASON", minimumWidth: 16, mayStandBelow: true),
        ])
        for event in events {
            table.append([
                .init(text: "\(Duration.microseconds(event.age).brief()) ago"), .init(text: event.kind.rawValue),
                .init(text: event.host ?? "-"), .init(text: event.by ?? "-"), .init(text: event.reason ?? "-"),
            ])
        }
        return table
    }
}

extension FleetEvent {
    fileprivate var json: JSONValue {
        .object([
            "ago": .number(Double(self.age) / 1_000_000), "event": .string(self.kind.rawValue),
            "host": .text(self.host), "by": .text(self.by), "reason": .text(self.reason),
        ])
    }
}
#endif

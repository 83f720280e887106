#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `forget`: takes hosts that have left, or that are silent, off the status.
struct ForgetVerb: Verb {
    static let name = "forget"
    static let synopsis = "HOST…"
    static let operands: [Operand] = [.many(.text)]
    static let summary = "take hosts that do not come back off the status"
    static let details = """
        HOST is a name in 'breaker-fleet status'. A host that is joined, or whose link
        is cut off but still reports, can't be forgotten: stop its link first. A host
        that comes back is listed again, and has lost nothing.
        """
    static let options: [Option] = []

    private let names: [String]
    private let settings: Settings

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        guard !arguments.operands.isEmpty else { throw .usage("'forget' needs a host's name", verb: Self.name) }
        self.names = arguments.operands.withoutRepeats
        self.settings = settings
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let server = try FleetServer(for: self.settings)
        let fleet = self.settings.fleetName
        let hosts = try server.asked { (server) throws(FleetError) in try server.status(of: fleet).hosts }
        let found = try self.names.map { (name) throws(Failure) in try Self.host(name, of: hosts) }
        for host in found {
            let isForgotten = try server.asked { (server) throws(FleetError) in try server.forget(host, of: fleet) }
            if !isForgotten {
                // By now it has come back, or another operator has made the fleet forget it.
                let hosts = try server.asked { (server) throws(FleetError) in try server.status(of: fleet).hosts }
                if hosts.contains(where: { $0.isNamed(host.name) }) { throw Self.stillReports(host) }
            }
            if !context.isJSON { context.console.write("\(host.name)  forgotten\n") }
        }
        if context.isJSON {
            context.console.write(JSONValue.document(["forgotten": .array(found.map { .string($0.name) })]))
        }
        return .done
    }

    private static func host(_ name: String, of hosts: [FleetStatus.Host]) throws(Failure) -> FleetStatus.Host {
        guard let host = hosts.first(where: { $0.isNamed(name) }) else {
            let nearest = Spelling.nearest(to: name, among: hosts.map(\.name))
            throw Failure(
                .failed, "no host is named \(name.quoted)",
                hint: nearest.map { "did you mean \($0.quoted)?" } ?? "'\(FleetProgram.name) status' lists them")
        }
        guard !host.sendsHeartbeats else { throw Self.stillReports(host) }
        return host
    }

    private static func stillReports(_ host: FleetStatus.Host) -> Failure {
        Failure(.failed, "the link of \(host.name.quoted) still reports", hint: "stop it first")
    }
}
#endif

#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `status`: prints the hosts and circuits of a fleet, as the server has them.
struct StatusVerb: Verb {
    static let name = "status"
    static let synopsis = ""
    static let summary = "show the hosts of the fleet, and what the server holds of their circuits"
    static let details = """
        A host is joined if its link has reported within 5 s. It is cut off if its link
        is silent, or says that it can't send or apply something: LAST REPORT is what it
        has said last, HEARD how long ago. A host whose link ended in order has left.
        Neither vanishes until 'breaker-fleet forget HOST'. PROGRAM is the process of
        the link. Circuits that are open or held are listed; all with --all, and in
        JSON; then those that single hosts have opened by their own rules. SINCE of a
        held circuit is when it was held. PROBE is when one is due, or which host may
        probe.
        """
    static let all = Option("all", help: "also the circuits that are closed")
    static let options: [Option] = [Self.all]

    private let settings: Settings
    private let showsAll: Bool

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        guard arguments.operands.isEmpty else { throw .usage("'status' takes no names", verb: Self.name) }
        self.settings = settings
        self.showsAll = arguments.has(Self.all)
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let server = try FleetServer(for: self.settings)
        do throws(FleetError) {
            let status = try server.status(of: self.settings.fleetName)
            if context.isJSON {
                context.console.write(JSONValue.document(status.json))
            } else {
                let shown = self.showsAll ? status.circuits : status.circuits.filter { !$0.isPlainlyClosed }
                context.console.write(
                    StatusText(status: status, shown: shown).text(
                        width: context.console.width, context.style))
            }
            return .done
        } catch {
            throw Failure(error)
        }
    }
}
#endif

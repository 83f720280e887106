#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `check`: the exit code says whether all is well.
struct CheckVerb: Verb {
    static let name = "check"
    static let synopsis = ""
    static let summary = "exit with 3 if a circuit is open on all hosts, with 5 if this host is cut off"
    static let details = """
        Prints a line for each circuit that is open or held; one that is held closed
        refuses no call. This host is cut off if the server can't be used from here,
        or, with --host, if the server has not heard of the link of that name for 5 s:
        of all NAME/1, NAME/2 … with several files. Without --host no link is asked for.
        """
    static let options: [Option] = [.host]

    private let settings: Settings

    init(_ arguments: Arguments, _ settings: Settings) throws(Failure) {
        guard arguments.operands.isEmpty else { throw .usage("'check' takes no names", verb: Self.name) }
        self.settings = settings
    }

    func run(in context: Context) throws(Failure) -> ExitCode {
        let server = try FleetServer(for: self.settings, orEndWith: .cutOff)
        let status: FleetStatus
        do throws(FleetError) {
            status = try server.status(of: self.settings.fleetName)
        } catch {
            throw Failure(error, .cutOff)
        }
        let told = status.circuits.filter { !$0.isPlainlyClosed }
        // One that is held closed refuses no call.
        let isClosed = told.allSatisfy(\.letsThrough)
        let missing = self.missing(in: status)
        if context.isJSON {
            context.console.write(
                JSONValue.document([
                    "checked": .count(status.circuits.count), "isClosed": .bool(isClosed),
                    "isCutOff": .bool(missing != nil), "notClosed": .array(told.map { $0.json }),
                ]))
        } else {
            for circuit in told {
                context.console.write(
                    "\(circuit.name.escaped)  \(context.style.paint(circuit.word, circuit.look))\n")
            }
        }
        if let missing {
            context.console.writeError("\(FleetProgram.name): \(missing)\n")
            return .cutOff
        }
        return isClosed ? .done : .notClosed
    }

    /// What says that this host is cut off; nil if it is joined, or nobody has said which host it is.
    private func missing(in status: FleetStatus) -> String? {
        guard let name = self.settings[.host] else { return nil }
        let links = status.hosts.filter { $0.name == name || $0.name.hasPrefix(name + "/") }
        if links.isEmpty { return "no link goes by the host name \(name.quoted)" }
        return links.first { !$0.isJoined }.map { link in
            "the link of \(link.name.quoted) was heard last \(Duration.microseconds(link.beat).brief()) ago"
        }
    }
}
#endif

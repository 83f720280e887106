#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `check`: reports by its exit code whether a circuit is open, or this host is cut off.
struct CheckVerb: Verb {
    static let name = "check"
    static let synopsis = ""
    static let summary = "exit with 3 if a circuit is open on all hosts, with 5 if this host is cut off"
    static let details = """
        Prints a line for each circuit that is open or held; one that is held closed
        refuses no call. A circuit that single hosts have opened by their own rules has
        a line for each of them, and does not change the exit code. This host is cut
        off if the server can't be used from here, or, with --host, if the server has
        not heard of the link of that name for 5 s, or the link can't send or apply
        something, such as an operator's command; with several files it checks all of
        NAME/1, NAME/2 …. With --store it checks the links of exactly these files,
        which is safer: another file's link may have that name. Without either option
        no link is checked.
        """
    static let options: [Option] = [.host, .store]

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
        let notClosed = status.circuits.filter { !$0.isPlainlyClosed }
        // A circuit that is held closed refuses no call.
        let isClosed = notClosed.allSatisfy(\.letsThrough)
        let problem = self.problem(in: status)
        if context.isJSON {
            context.console.write(
                JSONValue.document([
                    "checked": .count(status.circuits.count), "isClosed": .bool(isClosed),
                    "isCutOff": .bool(problem != nil), "notClosed": .array(notClosed.map { $0.json }),
                    "ownTrips": .array(status.ownTrips.map { $0.json }),
                ]))
        } else {
            for circuit in notClosed {
                context.console.writeLines(
                    "\(circuit.name.escaped)  \(context.style.paint(circuit.word, circuit.look))\n")
            }
            for trip in status.loneTrips {
                context.console.write(
                    "\(trip.circuit.escaped)  \(context.style.paint(trip.word, .bad)) by a rule of \(trip.host)\n")
            }
        }
        if let problem {
            context.console.writeError("\(FleetProgram.name): \(problem)\n")
            return .cutOff
        }
        return isClosed ? .done : .notClosed
    }

    /// Why this host is cut off; nil if it is joined, or if no setting names the host or its files.
    private func problem(in status: FleetStatus) -> String? {
        for path in self.settings.namedStores {
            do throws(BreakerStoreError) {
                guard let file = try Self.number(of: path), let link = status.hosts.first(where: { $0.file == file })
                else { return "no link of \(path.quoted) is joined" }
                if let problem = Self.problem(of: link) { return problem }
            } catch {
                return "\(path.quoted): \(error.message)"
            }
        }
        guard let name = self.settings[.host] else { return nil }
        let links = status.hosts.filter { $0.name == name || $0.name.hasPrefix(name + "/") }
        if links.isEmpty { return "no link has the host name \(name.quoted)" }
        return links.lazy.compactMap { Self.problem(of: $0) }.first
    }

    private static func problem(of link: FleetStatus.Host) -> String? {
        if let left = link.leftFor {
            return "the link of \(link.name.quoted) has left, \(Duration.microseconds(left).brief()) ago"
        }
        guard link.sendsHeartbeats else {
            return "the link of \(link.name.quoted) was last heard \(Duration.microseconds(link.beat).brief()) ago"
        }
        return link.trouble.map { "the link of \(link.name.quoted) \($0)" }
    }

    /// The number by which the server identifies the file.
    private static func number(of path: String) throws(BreakerStoreError) -> String? {
        var configuration = CircuitStore.Configuration()
        configuration.access = .readOnly
        let store = try CircuitStore(path: path, configuration: configuration)
        defer { store.close() }
        return try store.linkFileNumber().map { String($0) }
    }
}
#endif

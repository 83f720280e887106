#if PostgreSQL
/// The story of three hosts: with a fleet and without one, and what came of both.
struct FleetStory {
    /// The first argument of the demo that tells this story.
    static let word = "fleet"

    let console: Console
    let claims: Claims

    func tell() throws {
        self.console.write(
            """
            Three hosts with four workers each call one flaky service. First a fleet joins the hosts' files through
            PostgreSQL, then each host is alone. The rules are the same: \(FleetRules.maxFailures) failures within \
            \(Rules.window.components.seconds) s open the
            circuit for \(FleetRules.recovery.components.seconds) s, then one call may probe; if the probe fails, the \
            circuit stays open for a minute.
            All three hosts stand on this machine. Their clocks are hours apart, as those of real hosts may be.
            A doomed call is one that reaches the service while it is broken: the service counts them.
            """)
        let joined = try self.playJoined()
        let alone = try self.playAlone()
        self.conclude(joined, alone)
    }

    private func playJoined() throws -> Toll {
        self.console.begin("Three hosts, one fleet")
        let hosts = try HostStage()
        defer { hosts.clear() }
        let server = try PostgreSQL(on: hosts.stage)
        defer { server.clear() }
        return try FleetAct(hosts: hosts, server: server, console: self.console, claims: self.claims).play()
    }

    private func playAlone() throws -> Toll {
        self.console.begin("The same story without a fleet")
        let hosts = try HostStage()
        defer { hosts.clear() }
        return try AloneAct(hosts: hosts, console: self.console, claims: self.claims).play()
    }

    private func conclude(_ joined: Toll, _ alone: Toll) {
        self.console.begin("Doomed calls")
        self.console.write(Self.row("", "fleet", "alone"))
        self.console.write(Self.row("until all were refused", joined.untilOpen, alone.untilOpen))
        self.console.write(Self.row("to find out whether the service is back", joined.probing, alone.probing))
        self.console.write("  doomed calls: as a fleet \(joined.total), alone \(alone.total)")
        self.claims.check(
            "the fleet spared the service more than a third of them", joined.total * 3 < alone.total * 2, is: true)
    }

    private static func row(_ title: String, _ joined: some Any, _ alone: some Any) -> String {
        "  " + title.padded(to: 42) + "\(joined)".padded(to: 10) + "\(alone)"
    }
}
#endif

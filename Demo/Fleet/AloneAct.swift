#if PostgreSQL
import BreakerStore

/// The second part: the same hosts, whose files nothing joins.
struct AloneAct {
    let hosts: HostStage
    let console: Console
    let claims: Claims

    private var service: Service { self.hosts.stage.service }

    func play() throws -> Toll {
        var toll = Toll()
        try self.hosts.startWorkers(self.console, self.claims)
        toll.untilOpen = try self.tripThreeTimes()
        toll.probing = try self.probeThreeTimes()
        try self.reset()
        return toll
    }

    private func tripThreeTimes() throws -> Int {
        let doomed = try self.hosts.breakService(self.console)
        self.console.tell("Three circuits have tripped, each after the failures of its own host.")
        let least = self.hosts.doomedByHost.min() ?? 0
        self.claims.check(
            "\(doomed) doomed calls: at least \(FleetRules.maxFailures) of each host", least,
            in: FleetRules.maxFailures...FleetRules.maxFailures + 3)
        let trips = try self.hosts.hosts.map { try $0.events(.tripped).count }
        self.claims.check("each host has a trip of its own", trips, is: [1, 1, 1])
        return doomed
    }

    private func probeThreeTimes() throws -> Int {
        let before = self.service.requests.count
        try self.hosts.stage.wait(until: "the probe of each host has failed") {
            try self.hosts.hosts.allSatisfy { try !$0.events(.reopened).isEmpty }
        }
        self.console.tell("The \(FleetRules.recovery.readable) are over, and each host probes for itself.")
        let probes = self.service.requests[before...]
        let probers = self.hosts.hosts.filter { host in probes.contains { host.made($0) } }.map(\.name)
        self.claims.check("\(probes.count) probes, one of each host", probers, is: Host.names)
        return probes.count
    }

    private func reset() throws {
        self.service.mood = .well
        self.console.tell("The service is mended, and an operator resets the circuit on north:")
        try self.hosts.reset(self.console, self.claims)
        let next = try self.hosts.nextCalls(of: self.hosts.hosts)
        self.claims.check(
            "the workers of north call again; those of east and west are refused until somebody goes there, too", next,
            is: Array(repeating: .answered, count: 4) + Array(repeating: .refused, count: 8))
    }
}
#endif

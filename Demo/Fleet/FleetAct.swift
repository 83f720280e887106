#if PostgreSQL
import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The first part: three hosts whose files are joined through PostgreSQL.
final class FleetAct {
    private let hosts: HostStage
    private let server: PostgreSQL
    private let console: Console
    private let claims: Claims
    /// The network between the last host and PostgreSQL.
    private var way: ChildProcess?

    private var stage: Stage { self.hosts.stage }
    private var service: Service { self.stage.service }

    init(hosts: HostStage, server: PostgreSQL, console: Console, claims: Claims) {
        self.hosts = hosts
        self.server = server
        self.console = console
        self.claims = claims
    }

    func play() throws -> Toll {
        var toll = Toll()
        try self.join()
        try self.hosts.startWorkers(self.console, self.claims)
        toll.untilOpen = try self.tripOnce()
        try self.killPostgreSQL()
        toll.probing = try self.probeOnce()
        try self.cutOffAndReset()
        try self.comeBack()
        try self.tellHistory()
        return toll
    }

    private func join() throws {
        self.console.tell("A PostgreSQL is made in a temporary directory.")
        try self.server.make()
        let applied = try self.fleet(["schema", "apply"])
        guard applied.code == 0 else { throw DemoError.failed("breaker-fleet: \(applied.lines)") }
        for host in self.hosts.hosts.dropLast() {
            try host.startLink(on: self.stage, connection: self.server.connection())
        }
        // The last host's way to PostgreSQL is one that the demo can break.
        let way = try self.stage.start("way", nil, WayMode.arguments(to: self.server.port))
        self.way = way
        try self.stage.wait(until: "the way to PostgreSQL is open") { !way.lines.isEmpty }
        guard let port = way.lines.first.flatMap({ UInt16($0) }), let last = self.hosts.hosts.last
        else { throw DemoError.ended("the way to PostgreSQL") }
        try last.startLink(on: self.stage, connection: self.server.connection(port: port))
        try self.waitUntil([.joined, .joined, .joined])
        self.console.tell("Three hosts, each with a file and a clock of its own, and a link to PostgreSQL:")
        try self.tellStatus()
    }

    private func tripOnce() throws -> Int {
        let doomed = try self.hosts.breakService(self.console)
        self.console.tell("The circuit has tripped: all twelve workers, on three hosts, are refused.")
        self.claims.check(
            "\(doomed) doomed calls opened it for all: \(FleetRules.maxFailures) failures, and what was under way"
                + " meanwhile", doomed, in: FleetRules.maxFailures...2 * FleetRules.maxFailures - 1)
        let most = self.hosts.doomedByHost.max() ?? 0
        self.claims.check(
            "no host would have tripped by itself: none has seen more than \(most) failures", most,
            in: 1...FleetRules.maxFailures - 1)
        let trips = try self.hosts.hosts.map { try $0.events(.tripped).map { $0.by ?? "" } }
        self.claims.check(
            "the history of each host has this one trip, made by the fleet", trips,
            is: [["fleet"], ["fleet"], ["fleet"]])
        self.claims.check(
            "for PostgreSQL, too, it is one trip", try self.server.ask("SELECT trips FROM fleet.circuit"), is: ["1"])
        self.console.quote(["$ breaker-fleet status"])
        self.console.quote(try self.fleet(["status"]).lines)
        return doomed
    }

    private func killPostgreSQL() throws {
        let doomed = self.service.doomed
        let pid = try self.server.kill()
        let killed = Moment.now
        self.console.tell("kill -9 \(pid): PostgreSQL is dead.")
        try self.waitUntil([.cutOff, .cutOff, .cutOff])
        try self.hosts.waitUntilRefused(self.stage.workers, since: killed)
        try self.tellStatus()
        let calls = self.stage.workers.flatMap { $0.calls(since: killed) }
        self.claims.check(
            "no worker notices: \(calls.count) calls since, all refused", calls.count { $0.result == .refused },
            is: calls.count)
        self.claims.check("and none has reached the service", self.service.doomed - doomed, is: 0)
        let status = try self.fleet(["status"])
        self.console.quote(["$ breaker-fleet status"])
        self.console.quote(Array(status.lines.prefix(1)))
        self.claims.check("who asks for the status is told", status.code, is: 1)
        // The probe may come as soon as the hosts are joined again.
        self.service.mood = .brokenAndHanging
        try self.server.start()
        self.console.tell("PostgreSQL is started again. Nobody tells the links.")
        try self.waitUntil([.joined, .joined, .joined])
        try self.tellStatus()
        self.claims.check(
            "all three have joined again by themselves", self.hosts.hosts.map(\.health),
            is: [.joined, .joined, .joined])
        let kinds = try Set(self.hosts.hosts.flatMap { try $0.events() }.map(\.kind)).subtracting([.probing])
        self.claims.check("and nothing else has happened to the circuit on any host", kinds, is: [.tripped])
    }

    private func probeOnce() throws -> Int {
        let before = self.hosts.doomedByHost.reduce(0, +) - (self.service.hanging == nil ? 0 : 1)
        let probe = try self.stage.awaitHangingProbe()
        let prober = try self.stage.worker(of: probe)
        let period = FleetRules.recovery.readable
        self.console.tell("The \(period) are over: \(prober.name) is let through to probe the service, which hangs.")
        let others = self.stage.workers.filter { $0 !== prober }
        try self.hosts.waitUntilRefused(others, since: probe.arrived)
        self.claims.check(
            "it is one call of three hosts: the other eleven workers are refused", self.service.doomed - before, is: 1)
        self.service.failHanging()
        try self.stage.wait(until: "the circuit is open again on all hosts") {
            try self.hosts.hosts.allSatisfy { try $0.circuit()?.openPeriod ?? .zero > FleetRules.recovery * 2 }
        }
        self.console.tell("The probe has failed: the circuit is open on all hosts for a minute.")
        try self.hosts.waitUntilRefused(self.stage.workers, since: Moment.now)
        self.claims.check("nobody else had to try", self.service.doomed - before, is: 1)
        return self.service.doomed - before
    }

    private func cutOffAndReset() throws {
        self.way?.signal(SIGSTOP)
        self.console.tell("The network of west breaks: nothing comes through to PostgreSQL any more.")
        try self.waitUntil([.joined, .joined, .cutOff])
        self.service.mood = .well
        self.console.tell("The service is mended, and an operator on north need not wait until the minute is over:")
        try self.hosts.reset(self.console, self.claims)
        let connected = Array(self.hosts.hosts.dropLast())
        try self.waitUntilClosed(connected)
        try self.tellStatus()
        self.claims.check(
            "the reset on north holds on east: the next call of each of their workers is answered",
            try self.hosts.nextCalls(of: connected), is: Array(repeating: .answered, count: 8))
        self.claims.check(
            "west can't know yet, and goes on refusing", try self.hosts.nextCalls(of: self.hosts.hosts.suffix(1)),
            is: Array(repeating: .refused, count: 4))
    }

    private func comeBack() throws {
        self.way?.signal(SIGCONT)
        self.console.tell("The network of west works again.")
        try self.waitUntil([.joined, .joined, .joined])
        try self.waitUntilClosed(self.hosts.hosts)
        try self.tellStatus()
        self.claims.check(
            "west has heard of the reset: the next call of each of the twelve workers is answered",
            try self.hosts.nextCalls(of: self.hosts.hosts), is: Array(repeating: .answered, count: 12))
    }

    private func tellHistory() throws {
        self.console.tell("What happened stands in the file of each host:")
        for host in self.hosts.hosts {
            let events = try host.events().map { "\($0.kind)" + ($0.by.map { " by \($0)" } ?? "") }
            self.console.quote([host.name.padded(to: 9) + events.joined(separator: ", ")])
        }
    }

    /// Runs `breaker-fleet`, as somebody who looks at the fleet.
    private func fleet(_ arguments: [String]) throws -> (code: Int32, lines: [String]) {
        let connection = ["--postgres", self.server.connection()]
        return try self.stage.end(of: self.stage.startTool("breaker-fleet", arguments + connection))
    }

    // MARK: - How the hosts stand

    private func waitUntil(_ healths: [LinkHealth]) throws {
        try self.stage.wait(until: "the links are \(healths.map(\.rawValue).joined(separator: ", "))") {
            self.hosts.hosts.map(\.health) == healths
        }
    }

    private func waitUntilClosed(_ hosts: [Host]) throws {
        try self.stage.wait(until: "the circuit is closed") {
            try hosts.allSatisfy { try $0.circuit()?.state == .closed }
        }
    }

    private func tellStatus() throws {
        func row(_ host: String, _ clock: String, _ link: String, _ circuit: String) -> String {
            host.padded(to: 8) + clock.padded(to: 11) + link.padded(to: 10) + circuit
        }
        let rows = try self.hosts.hosts.map { host in
            let state = try host.circuit().map(\.stateInWords) ?? "not used yet"
            return row(host.name, host.clock.wallTime.timeOfDay, host.health?.rawValue ?? "none", state)
        }
        self.console.quote([row("host", "its clock", "link", "circuit")] + rows)
    }
}
#endif

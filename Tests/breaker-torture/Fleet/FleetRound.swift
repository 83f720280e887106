#if PostgreSQL
import BreakerFleet
import BreakerFleetTestSupport
import BreakerStore
import BreakerTestSupport
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// One round: hosts under traffic, trouble, and then quiet, in which all must be well again.
final class FleetRound {
    /// What must come about comes about by then.
    private static let patience = Duration.hangLimit

    let plan: FleetPlan
    let place: FleetPlace
    private let server: PostgresServer
    private let proxy: FleetProxy
    private let report: Report
    private let numbers: SharedNumbers
    private let database: TestDatabase
    private var hosts: [FleetHostProcesses] = []
    private let isOver = Locked(false)
    private var isServerUp = true
    private(set) var violations: [String] = []
    /// What has been done, with times since the machine booted, in microseconds.
    private(set) var acts: [(at: Int64, what: String)] = []
    /// What may lead to two probes at once until all is well again.
    private var troubles: [FleetJudge.Trouble] = []
    private let began = FleetPlace.now
    private let clockAtFirst = FleetRound.clock
    private var judged: [String] = []

    init(
        _ plan: FleetPlan, in directory: String, on server: PostgresServer, through proxy: FleetProxy, _ report: Report
    ) throws {
        self.plan = plan
        self.place = FleetPlace(directory)
        self.server = server
        self.proxy = proxy
        self.report = report
        guard unsafe mkdir(directory, 0o700) == 0 else { throw SystemError("make \(directory)") }
        self.numbers = try self.place.numbers
        self.database = try TestDatabase(on: server)
        let owner = try self.database.connect()
        for statement in FleetRegisterLog.statements { try owner.run(statement) }
        for number in 0..<plan.hosts {
            let folder = self.place.folder(of: number)
            guard unsafe mkdir(folder, 0o700) == 0 else { throw SystemError("make \(folder)") }
            let connection = plan.far.contains(number) ? proxy.connection(to: self.database) : self.database.connection
            self.hosts.append(
                FleetHostProcesses(number, in: self.place, links: plan.links[number], connection))
        }
    }

    func violated(_ what: String) { self.violations.append(what) }

    /// What happened, for people.
    var story: [String] { self.acts.map { "\(self.seconds($0.at)) \($0.what)" } + self.judged }

    private func seconds(_ time: Int64) -> String { String(format: "%8.3f s", Double(time - self.began) / 1e6) }

    private func note(_ what: String) { self.acts.append((FleetPlace.now, what)) }

    /// The server's clock less the time since this machine booted, in microseconds.
    private static var clock: Int64 { Int64(Date().timeIntervalSince1970 * 1e6) - FleetPlace.now }

    // MARK: - A round

    func run() async throws {
        FleetLateness.watch(self.place.lateness, syncs: true) { [isOver] in !isOver.withLock { $0 } }
        for host in self.hosts { try host.start() }
        try await self.wait("all are joined") { try await self.areJoined() }
        self.note("all are joined")
        for step in self.plan.steps {
            try await Task.sleep(for: step.delay)
            self.note(step.act.description)
            let hosts = step.act.hostsThatMayProbe(self.plan)
            if !hosts.isEmpty {
                self.troubles.append(.init(start: FleetPlace.now, kind: step.act.kind, hosts: hosts))
            }
            if try await self.perform(step.act) { self.report.add(1, step.act.kind) }
        }
        try await self.calmDown()
        for outage in self.plan.outages { try await self.playOutage(for: outage) }
        for host in self.hosts { try await host.end() }
        try self.judge()
    }

    func clear() async {
        self.isOver.withLock { $0 = true }
        for host in self.hosts { host.clear() }
        if !self.isServerUp { try? await self.server.start() }
        try? await self.proxy.go()
        try? self.database.drop()
        Directory.remove(self.place.directory)
    }

    private func wait(_ what: String, until isTrue: () async throws -> Bool) async throws {
        let start = ContinuousClock.now
        while try await !isTrue() {
            guard ContinuousClock.now - start < Self.patience else { throw Stuck(description: "not in time: \(what)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private struct Stuck: Error, CustomStringConvertible { let description: String }

    // MARK: - Quiet

    /// Nothing goes wrong any more: all are joined and agree, and then each circuit closes on each host.
    private func calmDown() async throws {
        self.note("quiet")
        let start = ContinuousClock.now
        if !self.isServerUp { try await self.perform(.startServer) }
        try await self.proxy.go()
        for host in self.hosts {
            host.goOn()
            try host.start()
            self.numbers[FleetPlace.isIdle(host.number)] = 0
        }
        self.numbers[FleetPlace.isDown] = 0
        do {
            try await self.wait("all are joined") { try await self.areJoined() }
            self.note("all are joined")
            try await self.wait("all have the hold that was said last") {
                let holds = Set(try await self.looks().map(\.?.hold))
                return holds.count == 1 && (self.knownWord?.allows(holds.first ?? nil) ?? true)
            }
            if self.knownWord != nil { self.report.add(1, "last words that hold on all hosts") }
            for host in self.hosts where try await host.look()?.hold != "none" {
                self.note("h\(host.number)'s hold is released")
                _ = try await host.operate("release")
                break
            }
            try await self.waitUntilClosed()
            if self.isClockSet { try await Task.sleep(for: Self.clockIsFelt) }
        } catch let stuck as Stuck {
            let looks = try await self.looks().map { $0.map { "\($0.state), hold \($0.hold)" } ?? "unreadable" }
            var healths: [[String]] = []
            for host in self.hosts { healths.append(try await host.healths()) }
            self.report.add(1, FleetChaos.stuck)
            for entry in try FleetRegisterLog.read(self.database.connect()).suffix(20) {
                self.acts.append((entry.at - self.clockAtFirst, "register: \(entry)"))
            }
            throw Stuck(description: "\(stuck.description); the hosts: \(looks), links \(healths)")
        }
        let time = Int((ContinuousClock.now - start) / .milliseconds(1))
        self.report.raise(time, "ms until all was well at most")
        try await self.comeToRest(isAfterTrouble: true)
        // A step of the server's clock may cost one recovery more: that of the next outage.
        self.endTroubles { $0.kind != FleetPlan.Act.setClock(ahead: 0).kind }
    }

    private func endTroubles(where isOver: (FleetJudge.Trouble) -> Bool) {
        for index in self.troubles.indices where isOver(self.troubles[index]) {
            self.troubles[index].end = min(self.troubles[index].end, FleetPlace.now)
        }
    }

    private func areJoined() async throws -> Bool {
        for host in self.hosts where try await !host.isJoined() { return false }
        return true
    }

    private func looks() async throws -> [FleetHostProcesses.Look?] {
        var looks: [FleetHostProcesses.Look?] = []
        for host in self.hosts { looks.append(try await host.look()) }
        return looks
    }

    private static let closed = """
        SELECT count(*) FROM fleet.circuit WHERE state = 'closed' AND (hold IS NULL OR hold_said + hold_for <= fleet.now()
        OR (hold_said, hold_number) < (reset_said, reset_number))
        """

    private func waitUntilClosed() async throws {
        try await self.wait("all are closed") {
            try await self.looks().allSatisfy { $0?.state == "closed" && $0?.hold == "none" }
                && self.database.number(Self.closed) == 1
        }
        self.note("all are closed")
    }

    /// With a service that is well nothing changes any more, but for one thing: failures that hosts have kept beneath a
    /// hold, or while they were cut off, may lead to one trip when the fleet can count them.
    private func comeToRest(isAfterTrouble: Bool) async throws {
        let before = try await self.looks()
        let generation = try self.database.number(Self.generation)
        try await Task.sleep(for: .milliseconds(1_200))
        let after = try await self.looks()
        if try before == after && self.database.number(Self.generation) == generation { return }
        guard isAfterTrouble else {
            return self.violated("a well circuit flaps: \(before), then \(after)")
        }
        self.note("a trip for failures from before")
        self.report.add(1, "late trips")
        try await self.waitUntilClosed()
        try await self.comeToRest(isAfterTrouble: false)
    }

    private static let generation = "SELECT generation FROM fleet.circuit"

    /// The service fails and is well again, and nothing else goes wrong: one trip for all, one probe at a time.
    private func playOutage(for time: Duration) async throws {
        let since = try self.database.number("SELECT public.real_now()")
        self.note("outage")
        let start = FleetPlace.now
        self.numbers[FleetPlace.isDown] = 1
        try await self.wait("all are open") {
            try await self.looks().allSatisfy { $0.map { $0.state != "closed" } ?? false }
        }
        self.note("all are open")
        try await Task.sleep(for: time)
        self.numbers[FleetPlace.isDown] = 0
        self.note("the service is well")
        try await self.waitUntilClosed()
        try await self.comeToRest(isAfterTrouble: false)
        let entries = try FleetRegisterLog.read(self.database.connect()).filter { $0.at >= since }
        let trips = zip([nil] + entries.map { $0 as FleetRegisterLog.Entry? }, entries).count { before, entry in
            entry.state == "open" && before?.state ?? "closed" == "closed"
        }
        if trips == 0 {
            self.unsaved.append(start..<FleetPlace.now)
        } else if trips != 1 {
            self.violated("an outage in which nothing else went wrong had \(trips) trips: \(entries)")
        }
        self.report.add(1, "quiet outages")
        self.endTroubles { _ in true }
    }

    // MARK: - Acts

    /// False where there was nothing to do.
    @discardableResult
    private func perform(_ act: FleetPlan.Act) async throws -> Bool {
        switch act {
        case .service(let isUp): self.numbers[FleetPlace.isDown] = isUp ? 0 : 1
        case .traffic(let host, let isOn): self.numbers[FleetPlace.isIdle(host)] = isOn ? 0 : 1
        case .killCaller(let host): await self.hosts[host].killCaller()
        case .killLink(let host, let link): await self.hosts[host].killLink(link)
        case .killHost(let host): await self.hosts[host].killAll()
        case .startHost(let host): try self.hosts[host].start()
        case .stopLink(let host, let link): try self.hosts[host].stopLink(link)
        case .goOnLink(let host, let link): self.hosts[host].goOn(link)
        case .killServer:
            guard self.isServerUp else { return false }
            self.isServerUp = false
            try await self.server.kill9()
        case .startServer:
            guard !self.isServerUp else { return false }
            try await self.server.start()
            self.isServerUp = true
        case .stall: try await self.proxy.stall()
        case .cut: try await self.proxy.cut()
        case .delay(let milliseconds): try await self.proxy.delay(milliseconds: milliseconds)
        case .passOn: try await self.proxy.go()
        case .remember:
            guard self.isServerUp else { return false }
            try FleetRegisterLog.remember(self.database.connect())
            self.hasMemory = true
        case .failOver:
            guard self.isServerUp, self.hasMemory else { return false }
            try FleetRegisterLog.failOver(self.database.connect())
        case .setClock(let seconds):
            guard self.isServerUp else { return false }
            try self.database.setClock(ahead: seconds)
            self.isClockSet = true
        case .operate(let host, let word):
            guard let answer = try await self.hosts[host].operate(word) else { return false }
            if answer != "ok" { self.note("   \(answer)") }
            if answer == "ok", word != "probe" { self.lastWord = LastWord(word) }
        }
        return true
    }

    private var hasMemory = false
    private var isClockSet = false
    /// Where the clock was set back by 2 s, failures are older than the register's last change for as long.
    private static let clockIsFelt = Duration.seconds(3)

    /// What was said last about holds, on any host: one word comes after the other.
    private struct LastWord {
        /// Hosts end a hold by their own clocks, and hear of it at different times.
        private static let tolerance = Duration.seconds(3)

        private var hold: String?
        private var ends: ContinuousClock.Instant?

        init(_ word: String) {
            let parts = word.split(separator: " ")
            self.hold = parts[0].hasPrefix("hold-") ? String(parts[0].dropFirst(5)) : nil
            self.ends = parts.count > 1 ? Int(parts[1]).map { .now + .milliseconds($0) } : nil
        }

        func allows(_ found: String?) -> Bool {
            guard let hold = self.hold else { return found == "none" }
            guard let ends = self.ends else { return found == hold }
            if .now > ends + Self.tolerance { return found == "none" }
            return found == hold || found == "none"
        }
    }

    private var lastWord: LastWord?
    /// Whoever sets the server's clock also sets the order of words whose hosts had not heard each other.
    private var knownWord: LastWord? { self.isClockSet ? nil : self.lastWord }

    // MARK: - Judging

    /// Quiet outages in which the fleet did not trip.
    private var unsaved: [Range<Int64>] = []

    private func judge() throws {
        let drift = abs(Self.clock - self.clockAtFirst)
        let entries = try FleetRegisterLog.read(self.database.connect())
        let judge = try FleetJudge(
            self.place, hosts: self.plan.hosts, entries, clock: self.clockAtFirst, drift: drift, self.troubles)
        self.violations += judge.violations
        for outage in self.unsaved {
            // Each host had so many failures at once that its own rule was met before a link had told of them.
            if judge.allTripped(by: outage) {
                self.report.add(1, "quiet outages that each host found by itself")
            } else {
                self.violated("a quiet outage had no trip of the fleet, and hosts that did not trip by themselves")
            }
        }
        for (what, count) in judge.counts.sorted(by: { $0.key < $1.key }) { self.report.add(count, what) }
        self.report.raise(Int(self.numbers[FleetPlace.slowest] / 1_000), "ms of the slowest call")
        self.judged = judge.story.sorted { $0.at < $1.at }.map { "\(self.seconds($0.at)) \($0.what)" }
    }
}
#endif

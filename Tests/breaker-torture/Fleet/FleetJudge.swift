#if PostgreSQL
import BreakerFleetTestSupport
import BreakerStore

/// Holds the hosts' files, the register's log and the callers' notes of one round against each other.
struct FleetJudge {
    /// Something that may lead to two probes at once, until all was well again.
    struct Trouble {
        var start: Int64
        var end: Int64 = .max
        var kind: String
        /// Who may probe by itself because of it.
        var hosts: Set<Int>
    }

    private struct Host {
        var number: Int
        var name: String { "h\(self.number)" }
        var events: [StoreFile.Event] = []
        var walk: LegalWalk?
        /// What the host's store time is ahead of the time since this machine booted.
        var lead: Int64 = 0
        var failures: [Int64] = []
        var probes: [Range<Int64>] = []

        func isOpenByItself(at time: Int64) -> Bool {
            self.walk?.period(at: time + self.lead).isOwnTrip ?? false
        }
    }

    /// Two clocks of this machine never differ by more, if nobody sets one.
    private static let slack: Int64 = 50_000
    /// For so long the machine's being late may be felt.
    private static let memory: Int64 = 3_000_000

    private(set) var violations: [String] = []
    private(set) var counts: [String: Int] = [:]
    private(set) var story: [(at: Int64, what: String)] = []
    private var hosts: [Host] = []
    /// With times since this machine booted.
    private var entries: [FleetRegisterLog.Entry]
    private let troubles: [Trouble]
    private let lateness: [Range<Int64>]

    /// - Parameters:
    ///   - clock: the server's clock less the time since this machine booted.
    ///   - drift: by how much that has changed meanwhile.
    init(
        _ place: FleetPlace, hosts: Int, _ entries: [FleetRegisterLog.Entry], clock: Int64, drift: Int64,
        _ troubles: [Trouble]
    ) throws {
        self.troubles = troubles
        self.lateness = FleetLateness.read(place.lateness)
        self.entries = entries.map { entry in
            var entry = entry
            entry.at -= clock
            entry.openUntil = entry.openUntil.map { $0 - clock }
            entry.leaseEnds = entry.leaseEnds.map { $0 - clock }
            return entry
        }
        for number in 0..<hosts { try self.take(number, place) }
        self.story += self.entries.map { ($0.at, "register: \($0)") }
        if drift < Self.slack {
            self.checkRegister()
            self.checkOrders()
        } else {
            self.counts["rounds with a clock that was set", default: 0] += 1
        }
        self.checkProbes()
    }

    private mutating func take(_ number: Int, _ place: FleetPlace) throws {
        var host = Host(number: number)
        let file = StoreFile(place.file(of: number))
        // A store is degraded where a process was halted while it held the file's lock.
        let judge = StoreJudge(file, isLinked: true, strays: ["degraded", "restored"])
        self.violations += judge.violations.map { "\(host.name): \($0)" }
        host.walk = judge.walks[FleetPlace.circuit]
        host.lead = Int64(OtherHostClock.lead(of: number) / .microseconds(1)) + file.offset
        for var event in file.events {
            event.at -= host.lead
            if event.circuit == FleetPlace.circuit {
                host.events.append(event)
                if event.by == nil, !Self.isOwn(event) {
                    self.violations.append("\(host.name): nobody is said to have done \(event)")
                }
            } else if event.circuit == nil {
                self.counts["events \(event.kind)", default: 0] += 1
            } else {
                self.violations.append("\(host.name): an event that should not be: \(event)")
            }
        }
        self.story += host.events.map { event in
            let who = event.by.map { " by \($0)" } ?? ""
            return (event.at, "\(host.name): \(event.kind)\(who)\(event.reason.map { ": \($0)" } ?? "")")
        }
        for record in try place.logs(of: number).flatMap(\.records) {
            let begin = record.clock.lowerBound
            // A probe whose process was killed ends where it began.
            let end = record.end == 0 ? begin : record.clock.upperBound
            if record.outcome == .failure { host.failures.append(begin) }
            if record.what == .admit { host.probes.append(begin..<max(begin + 1, end)) }
        }
        self.counts["probes", default: 0] += host.probes.count
        self.hosts.append(host)
    }

    /// Whether a circuit does such a thing by itself.
    private static func isOwn(_ event: StoreFile.Event) -> Bool {
        switch event.kind {
        case "tripped", "probing", "probeExpired", "proberDied", "reopened", "closed": true
        case "released": event.isEndOfHoldByTime
        default: false
        }
    }

    // MARK: - The register

    /// The register's log is a walk: it trips once for enough failures, and closes after a probe that went well.
    private mutating func checkRegister() {
        var known: Set<Int64> = []
        var before: FleetRegisterLog.Entry?
        for entry in self.entries {
            if entry.isFailover {
                before = nil
                continue
            }
            defer {
                before = entry
                known.insert(entry.generation)
            }
            // A link gives the register back what a failover has lost, with its generation.
            guard let last = before, entry.generation == last.generation || !known.contains(entry.generation) else {
                continue
            }
            if entry.generation < last.generation {
                self.violations.append("a generation went back: \(last), \(entry)")
            }
            if entry.generation == last.generation {
                // A word about a hold is no new generation.
                if entry.state != last.state {
                    self.violations.append("a change without a generation: \(last), then \(entry)")
                }
                // A right to probe ends at once when somebody sets the server's clock.
                if let holder = last.lease, let next = entry.lease, holder != next, entry.at < last.leaseEnds ?? 0,
                    !self.wasClockSet(before: entry.at)
                {
                    self.violations.append("\(next) took the right to probe from \(holder) before its end")
                }
            }
            switch (last.state, entry.state) {
            case ("closed", "open"):
                self.counts["trips of the fleet", default: 0] += 1
                self.expectFailures(before: entry)
            case ("open", "closed") where !entry.isReset:
                self.counts["closings of the fleet", default: 0] += 1
                self.expectProbe(before: entry)
            default: break
            }
        }
    }

    /// Enough failures of enough hosts came before a trip.
    private mutating func expectFailures(before entry: FleetRegisterLog.Entry) {
        let start = entry.at - Int64(FleetPlace.window / .microseconds(1)) - Self.slack
        let failures = self.hosts.map { host in
            host.failures.count { start <= $0 && $0 <= entry.at + Self.slack }
        }
        if failures.reduce(0, +) < FleetPlace.failures || failures.count(where: { $0 > 0 }) < FleetPlace.minimumHosts {
            self.violations.append("the fleet tripped for failures \(failures): \(entry)")
        }
    }

    /// A host's own probe went well before the fleet closed.
    private mutating func expectProbe(before entry: FleetRegisterLog.Entry) {
        let isFound = self.hosts.contains { host in
            host.events.contains { $0.kind == "closed" && $0.by == nil && $0.at <= entry.at + Self.slack }
        }
        if !isFound { self.violations.append("the fleet closed without a probe: \(entry)") }
    }

    // MARK: - Orders

    /// A host does by the fleet's word only what the register has said before.
    private mutating func checkOrders() {
        for host in self.hosts {
            for event in host.events where LinkOrder.isOfFleet(event.by) {
                let isSaid = self.entries.contains { entry in
                    guard !entry.isFailover, entry.at <= event.at + Self.slack else { return false }
                    switch event.kind {
                    case "tripped": return entry.state == "open" && entry.reason == event.reason
                    case "reopened": return entry.state == "open"
                    case "closed": return entry.state == "closed"
                    case "reset": return entry.resetSaid != nil
                    case "held": return entry.hold.map { event.becomes == "held-\($0)" } ?? false
                    case "released": return entry.hold == nil
                    default: return false
                    }
                }
                if !isSaid { self.violations.append("\(host.name) obeyed what no register has said: \(event)") }
                self.counts["orders obeyed", default: 0] += 1
            }
            self.checkOneTrip(host)
        }
    }

    /// A host opens by the fleet's word at most once for each generation of an open register.
    private mutating func checkOneTrip(_ host: Host) {
        let own = host.events.count { $0.kind == "tripped" && $0.by == nil }
        if own > 0 { self.counts["own trips", default: 0] += own }
        var used: Set<Int64> = []
        for event in host.events where event.kind == "tripped" && LinkOrder.isOfFleet(event.by) {
            let generations = self.entries.filter { entry in
                !entry.isFailover && entry.state == "open" && entry.reason == event.reason
                    && entry.at <= event.at + Self.slack
            }.map(\.generation)
            guard let free = generations.last(where: { !used.contains($0) }) else {
                if self.trouble(of: nil, at: event.at) == nil {
                    self.violations.append("\(host.name) was opened twice for one trip: \(event)")
                } else {
                    self.counts["hosts opened again for one trip amid trouble", default: 0] += 1
                }
                continue
            }
            used.insert(free)
        }
    }

    /// Whether each host tripped by its own rule within a time.
    func allTripped(by time: Range<Int64>) -> Bool {
        self.hosts.allSatisfy { host in
            host.events.contains { $0.kind == "tripped" && $0.by == nil && time.contains($0.at) }
        }
    }

    // MARK: - Probes

    /// The newest trouble that one of these hosts had at that time; of any host if none is named.
    private func trouble(of hosts: Set<Int>?, at time: Int64) -> Trouble? {
        self.troubles.last { trouble in
            trouble.start <= time && time <= trouble.end && !(hosts ?? trouble.hosts).isDisjoint(with: trouble.hosts)
        }
    }

    private func wasClockSet(before time: Int64) -> Bool {
        self.troubles.contains { $0.kind == FleetPlan.Act.setClock(ahead: 0).kind && $0.start <= time }
    }

    /// Whether processes did not run shortly before, for long enough that a guard may be over.
    private func wasLate(before time: Int64) -> Bool {
        self.lateness.contains { $0.lowerBound < time && $0.upperBound > time - Self.memory }
    }

    /// Two hosts never probe at once, but for the documented exceptions.
    private mutating func checkProbes() {
        for (index, host) in self.hosts.enumerated() {
            for other in self.hosts[(index + 1)...] {
                for probe in host.probes {
                    for another in other.probes where probe.overlaps(another) {
                        self.take(host, probe, other, another)
                    }
                }
            }
        }
    }

    private mutating func take(_ host: Host, _ probe: Range<Int64>, _ other: Host, _ another: Range<Int64>) {
        let isOwn = host.isOpenByItself(at: probe.lowerBound) || other.isOpenByItself(at: another.lowerBound)
        let time = max(probe.lowerBound, another.lowerBound)
        if isOwn {
            self.counts["two probes at once: own trips", default: 0] += 1
        } else if let trouble = self.trouble(of: [host.number, other.number], at: time) {
            self.counts["two probes at once: \(trouble.kind)", default: 0] += 1
        } else if self.wasLate(before: time) {
            self.counts["two probes at once: the machine was late", default: 0] += 1
        } else {
            self.violations.append(
                "\(host.name) and \(other.name) probed at once, at \(probe) and \(another) µs of uptime")
        }
    }
}
#endif

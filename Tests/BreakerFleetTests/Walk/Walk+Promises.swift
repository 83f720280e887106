import BreakerStore

@testable import BreakerFleet

/// What links promise.
extension Walk {
    mutating func watch() {
        let probing = self.hosts.filter {
            guard let probe = $0.probe else { return false }
            return !$0.file.isOwnTrip && $0.file.state == .halfOpen && probe.epoch == $0.file.epoch
        }
        if probing.count > 1, !self.isDisturbed { self.violate("two probes at once: \(probing.map(\.name))") }
        let isQuiet = self.hosts.allSatisfy {
            $0.isConnected && !$0.isNew && $0.link != nil && $0.file.state == .closed && $0.file.hold == nil
                && $0.probe == nil
        }
        if isQuiet, self.server.row?.state == .closed, !self.server.isHeld(at: self.now) { self.isDisturbed = false }
    }

    /// Before a trip is asked for: enough failures of enough hosts must have happened.
    mutating func expectReason(for request: Request) {
        guard !self.hasStepped, let row = self.server.row else { return }
        let start = self.hosts.first.map(\.file.isConsecutive) == true ? 0 : self.now - SimulatedFile.window
        let counting = self.failures.filter { $0.at >= max(start, row.since - self.server.offset) }
        if counting.count < SimulatedFile.threshold || Set(counting.map(\.host)).count < 2 {
            self.violate("a trip for \(counting.count) failures: \(request)")
        }
    }

    /// After all have looked: enough failures of enough hosts have opened the register.
    mutating func expectTrip() {
        guard !self.hasStepped, let row = self.server.row, row.state == .closed, !self.server.isHeld(at: self.now),
            self.hosts.allSatisfy({ $0.isConnected && !$0.isNew && $0.link != nil && $0.file.hold == nil })
        else { return }
        let counts = self.hosts.map { host in
            host.file.look(at: self.now).failures.count { self.now - $0.age >= row.since - self.server.offset }
        }
        if counts.reduce(0, +) >= SimulatedFile.threshold, counts.count(where: { $0 > 0 }) >= 2 {
            self.violate("no trip for failures \(counts)")
        }
    }

    /// All is well again: the hosts agree, and stay as they are.
    mutating func settle() {
        let known = self.hosts.compactMap(\.link?.register?.generation).max() ?? 0
        self.isServiceUp = true
        self.isSettling = true
        for index in self.hosts.indices { self.connect(index) }
        for _ in 0..<4 { self.round() }
        if !self.hasStepped, let row = self.server.row, row.generation < known { self.violate("a generation is lost") }
        self.expectHold()
        guard self.violations.isEmpty else { return }
        self.now += 1
        self.hosts[0].file.operate(.release, by: "ann", at: self.now)
        self.round()
        for index in self.hosts.indices { self.hosts[index].traffic = true }
        for _ in 0..<45 where !self.isClosed { self.pass(1_000_000) }
        if !self.isClosed {
            let open = self.hosts.filter { $0.file.state != .closed || $0.file.hold != nil }
            self.violate("still open: \(open.map { ($0.name, $0.file.state) }), \(String(describing: self.server.row))")
        }
        let before = self.hosts.map(\.file.epoch)
        let generation = self.server.row?.generation
        self.pass(3_000_000)
        if before != self.hosts.map(\.file.epoch) || generation != self.server.row?.generation { self.violate("flaps") }
    }

    private var isClosed: Bool {
        self.server.row?.state == .closed
            && self.hosts.allSatisfy { $0.file.state == .closed && $0.file.hold == nil && $0.probe == nil }
    }

    private mutating func expectHold() {
        guard !self.hasStepped, self.lastOperation > 0 else { return }
        let hold = self.lastHold.flatMap { hold in hold.until.map { $0 <= self.now } ?? false ? nil : hold }
        for host in self.hosts {
            let held = host.file.look(at: self.now).hold
            if held?.state != hold?.state {
                self.violate("\(host.name) is held \(String(describing: held)), and not \(String(describing: hold))")
            }
        }
    }
}

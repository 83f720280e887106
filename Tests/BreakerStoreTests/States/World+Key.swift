@testable import BreakerStore

/// What tells one state from another, as bytes: two worlds with the same key have the same future.
///
/// Times are relative to now, and what is over is over. Epochs are the circuit's own or old. Tickets, calls, tokens and
/// workers have no numbers, but the places where they stand. Processes are interchangeable.
extension World {
    var key: [UInt8] {
        var key = KeyBytes(now: self.now)
        let circuit = self.file.circuit
        switch circuit.state {
        case .closed: key.add(0)
        case .open(let until):
            key.add(1)
            key.add(key.distance(to: until))
        case .halfOpen(let successes): key.add(2 + successes)
        case .unknown: key.add(99)
        }
        key.add(circuit.hold.map { $0.state == .open ? 1 : 2 } ?? 0)
        key.add(time: circuit.hold.map { $0.until.map(key.seconds) ?? .max })
        key.add(time: self.expected.heldUntil)
        key.add(times: self.file.failures.failures.map(\.at), self.ageMatters)
        key.add(times: self.expected.failures.map(\.at), self.ageMatters)
        let known = Set(self.processes.flatMap { $0.probes + $0.probesGivenBack }.compactMap(\.probe))
        key.add(
            sorted: circuit.probes.map { probe in
                [
                    key.distance(to: probe.leaseEnds), self.isAlive(probe.worker) ? 1 : 0,
                    known.contains(probe.token) ? 1 : 0,
                ]
            })
        var parts: [[UInt8]] = []
        for number in self.processes.indices { parts.append(self.key(of: number)) }
        for part in parts.sorted(by: { $0.lexicographicallyPrecedes($1) }) { key.bytes += part }
        return key.bytes
    }

    /// Where no window makes failures old, a failure and a success in the world end at the instant of their commit.
    private var ageMatters: Bool { !self.bounds.rules.isConsecutive }

    private func key(of number: Int) -> [UInt8] {
        let process = self.processes[number]
        var key = KeyBytes(now: self.now)
        guard process.isAlive else { return [255] }
        key.add(
            flags: process.isStopped, process.canWrite, process.gatesAreOpen, process.isThreadAwake,
            process.hasThreadEnded, self.lockedBy == number)
        key.add(time: process.threadSleepsUntil)
        self.add(process.life, to: &key)

        let tickets = process.tickets
        for ticket in tickets { self.add(ticket, to: &key) }
        key.add(254)
        for ticket in process.kept { self.add(ticket, to: &key) }
        key.add(254)
        for leader in process.leaders { self.add(leader, tickets, to: &key) }
        key.add(
            sorted: process.calls.map { call in
                guard let ticket = call.ticket else { return [254] + self.words(of: call.leave) }
                return [tickets.firstIndex { $0 === ticket } ?? 253]
            })
        return key.bytes
    }

    private func add(_ life: StoreLife, to key: inout KeyBytes) {
        let phase =
            switch life.phase {
            case .healthy: 0
            case .degraded: 1
            case .closing(nil): 2
            case .closing(_?): 3
            case .closed: 4
            }
        let lead =
            switch life.lead {
            case .nobody: 0
            case .caller: 1
            case .reader: 2
            case .thread: 3
            }
        let checkpoint =
            switch life.checkpoint {
            case .notDue: 0
            case .due: 1
            case .synced: 2
            }
        key.add(phase + 5 * (lead + 4 * checkpoint))
        key.add(flags: life.mayCacheDecisions, life.isLeadWanted, life.hasTimedOutWaiter)
        // The pause is always a second here, so the rest of the back-off does not matter.
        key.add(time: life.backOff.next.map(Self.seconds))
        key.add(time: life.nextMaintenance.map(Self.seconds))
        key.add(time: life.closeBy.map { Self.seconds($0.instant) })
        key.add(life.waiting.count)
    }

    private func add(_ leader: Leader, _ tickets: [WorldTicket], to key: inout KeyBytes) {
        switch leader.role {
        case .caller: key.add(0)
        case .reader: key.add(2)
        case .thread: key.add(3)
        case .leavingThread: key.add(4)
        }
        key.add(flags: leader.hangs)
        switch leader.stage {
        case .begins: key.add(0)
        case .waitsForLock: key.add(1)
        case .hasLock(let taken):
            key.add(2)
            key.add(taken.count)
        case .hasCommitted(let round):
            key.add(3)
            self.add(round, to: &key)
        case .ends, .isOver: key.add(4)
        }
    }

    private func add(_ round: Round, to key: inout KeyBytes) {
        key.add(flags: round.isLost)
        key.add(round.failed.count)
        for (_, leave) in round.done {
            for word in leave.map({ self.words(of: $0) }) ?? [253] { key.add(word) }
        }
        key.add(254)
    }

    private func add(_ ticket: WorldTicket, to key: inout KeyBytes) {
        key.add(ticket.hasCaller ? ticket.submitter == .task ? 2 : 1 : 0)
        key.add(time: ticket.due)
        switch ticket.input {
        case nil: key.add(0)
        case .failed(let report):
            let failure = Circuit.Failure(at: report.at, worker: report.worker, sequence: report.sequence)
            key.add(1)
            key.add(self.ageMatters ? key.age(of: report.at) : 0)
            key.add(
                flags: report.isRetry, self.file.failures.failures.contains(failure),
                self.expected.failures.contains(failure))
        case .succeeded: key.add(2)
        case .probeEnded(_, .success, _): key.add(3)
        case .probeEnded(_, .failure, _): key.add(4)
        case .probeEnded: key.add(5)
        case .failedUnread, .recorded: key.add(6)
        }
        for word in self.words(of: ticket.leave) { key.add(word) }
    }

    private func words(of leave: Leave) -> [Int] {
        let ahead = leave.epoch.rawValue - self.file.circuit.epoch.rawValue
        return [
            leave.windowGeneration == self.expected.windowGeneration ? 1 : 0,
            ahead == 0 ? 1 : ahead > 0 ? Int(min(ahead, 5)) + 1 : 0,
            leave.probe == nil ? 0 : leave.ends > self.now ? 2 : 1,
            leave.probe.map { token in self.file.circuit.probes.contains { $0.token == token } } ?? false ? 1 : 0,
        ]
    }
}

/// The bytes of a key, and how times are told in it.
private struct KeyBytes {
    let now: Int
    var bytes: [UInt8] = []

    mutating func add(_ word: Int) { self.bytes.append(UInt8(truncatingIfNeeded: word)) }

    mutating func add(flags: Bool...) { self.add(flags.reduce(0) { $0 * 2 + ($1 ? 1 : 0) }) }

    /// What is over is 0, what has no time 9.
    mutating func add(time: Int?) { self.add(time.map { max(0, min($0, self.now + 8) - self.now) } ?? 9) }

    mutating func add(sortedTimes times: [Int]) {
        for time in times.sorted() { self.add(time: time) }
        self.add(254)
    }

    mutating func add(times: [StoreTime], _ ageMatters: Bool) {
        if ageMatters { for age in times.map(self.age).sorted() { self.add(age) } } else { self.add(times.count) }
        self.add(254)
    }

    mutating func add(sorted words: [[Int]]) {
        for word in words.sorted(by: { $0.lexicographicallyPrecedes($1) }) { for part in word { self.add(part) } }
        self.add(254)
    }

    func seconds(_ time: StoreTime) -> Int { Int(time.microseconds / World.second) }

    func distance(to time: StoreTime) -> Int { max(0, min(self.seconds(time) - self.now, 8)) }

    /// Windows are a second, so that all is the same to them that is older.
    func age(of time: StoreTime) -> Int { min(2, self.now - self.seconds(time)) }
}

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Makes the public values that describe a circuit.
extension Circuit {
    /// The public state: a hold overrides the state of the circuit itself.
    func state(at now: StoreTime, _ date: (StoreTime) -> Date) -> CircuitState {
        if let hold = self.hold(at: now) { return .held(hold.state, until: hold.until.map(date)) }
        switch self.state {
        // For this version, an unknown state admits calls.
        case .closed, .unknown: return .closed
        case .open(let until): return .open(until: date(until))
        case .halfOpen: return .halfOpen
        }
    }

    /// Whether the circuit is open, not held, and its recovery time is over: it refuses nobody.
    func isDue(at now: StoreTime) -> Bool {
        guard self.hold(at: now) == nil, case .open(let until) = self.state else { return false }
        return until <= now
    }
}

extension CircuitSnapshot.Hurt {
    init(_ calls: CircuitRow.FailedAndRefused) {
        self.init(failed: UInt64(clamping: calls.failed), refused: UInt64(clamping: calls.refused))
    }
}

extension CircuitSnapshot.Probe {
    init(_ probe: Circuit.Probe, _ date: (StoreTime) -> Date) {
        self.init(
            worker: probe.worker.rawValue, name: probe.prober?.name, pid: probe.prober?.pid, since: date(probe.since),
            leaseEnds: date(probe.leaseEnds))
    }
}

extension CircuitSnapshot.Hold {
    init(_ hold: Circuit.Hold, _ date: (StoreTime) -> Date) {
        self.init(
            state: hold.state, since: date(hold.since), until: hold.until.map(date), by: hold.by, reason: hold.reason)
    }
}

extension CircuitSnapshot {
    /// Describes a circuit with its counts, as of one moment.
    init(_ stored: StoredCircuit, at moment: ReadingMoment) {
        let (now, date) = (moment.now, moment.date)
        let row = stored.row
        var circuit = row.circuit
        circuit.clampFutureStamps(for: now)
        var withoutHold = circuit
        withoutHold.hold = nil
        let failures = stored.failures(at: now).map { date(min($0.at, now)) }
        self.init(
            name: stored.name,
            config: CircuitBreaker.Config(name: stored.name, group: row.group, rules: circuit.rules),
            state: circuit.state(at: now, date),
            since: date(circuit.hold(at: now)?.since ?? circuit.since),
            epoch: circuit.epoch.rawValue,
            beneath: circuit.hold(at: now) == nil ? nil : withoutHold.state(at: now, date),
            failures: failures,
            failureCount: failures.count,
            tripsInARow: circuit.tripsInARow,
            probes: circuit.liveProbes(at: now, isAlive: moment.isAlive).map { CircuitSnapshot.Probe($0, date) },
            hold: circuit.hold(at: now).map { CircuitSnapshot.Hold($0, date) },
            lastError: circuit.lastError,
            refusals: Int(clamping: stored.totals.refused),
            workers: stored.registered.count(where: moment.isAlive),
            trippedSince: circuit.trippedSince.map(date),
            totals: CallTotals(stored.totals, stored.durations),
            recent: stored.recent,
            hurt: stored.hurt.map(CircuitSnapshot.Hurt.init)
        )
        self.recoveryIsOver = circuit.isDue(at: now)
    }
}

/// What a refused caller can wait for.
package enum AwaitedCircuit: Sendable, Hashable {
    /// A call would be let through, or could be a probe.
    case admits
    /// The circuit refuses calls for a known time.
    ///
    /// `openEnd` identifies the open state: a new trip or a later declared end changes it.
    case open(openEnd: Int64, remaining: Duration)
    /// All probes that may run are running.
    case probing
    /// An operator holds the circuit open.
    case held
}

extension CircuitBreaker {
    /// The circuit in the file, for a caller that waits until it may call; changes nothing.
    ///
    /// Reads on the calling thread. If the file has no such circuit, or can't be read, the answer is `admits`: then the
    /// call itself finds out.
    package var awaited: AwaitedCircuit {
        guard self.mayUseFile, let row = try? self.core.row(of: self.name) else { return .admits }
        var circuit = row.resolved(with: self.circuit.registeredConfig).circuit
        let now = self.core.clock.now
        circuit.clampFutureStamps(for: now)
        switch circuit.answer(at: now, isAlive: self.core.isAlive) {
        case .proceed, .uncounted, .observe, .claim: return .admits
        case .refuse(.held, until: _): return .held
        case .refuse(.probing, until: _): return .probing
        case .refuse(.open, let until):
            guard let until, case .open(let stored) = row.circuit.state else { return .admits }
            let remaining = until.microseconds.subtractingSaturating(now.microseconds)
            return .open(openEnd: stored.microseconds, remaining: .microseconds(max(0, remaining)))
        }
    }

    /// The length of the declared outage by which the circuit is open; nil without one, or if the file can't be read.
    ///
    /// The newest event that opened the circuit, or extended its outage, has the reason; it is looked for among the
    /// last 20. Reads on the calling thread.
    package var declaredOutage: Duration? {
        guard let row = try? self.core.row(of: self.name), case .open(let until) = row.circuit.state,
            let events = try? self.store.history(of: self.name, limit: 20)
        else { return nil }
        let opening = events.first { [.tripped, .reopened, .extended].contains($0.kind) }
        guard opening?.reason?.hasPrefix(Circuit.outageReasonStart) ?? false else { return nil }
        let length = until.microseconds.subtractingSaturating(row.circuit.since.microseconds)
        return .microseconds(max(0, length))
    }
}

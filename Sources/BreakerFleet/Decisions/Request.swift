import BreakerStore

/// A compare-and-set on a register: one statement, in a transaction of its own.
enum Request: Sendable, Hashable {
    /// Opens a closed register of this generation.
    case trip(generation: Int64, openFor: Int64, reason: String)
    /// Acquires the right to probe, if it is free, and the register is of this generation, open, due and not held.
    case elect(generation: Int64)
    /// Extends the right to probe by another lease.
    case renew(generation: Int64)
    /// Returns the right to probe.
    case yield(generation: Int64)
    /// Reports the outcome of a probe.
    ///
    /// With `isElected`, accepted only if this host has the right to probe; else only if the register is due and that
    /// right is free.
    case verdict(generation: Int64, Verdict, isElected: Bool)
    /// Sends an operator's command, unless the server has a newer command of its kind.
    case send(OperatorCommand)
    /// Sends this link's copy of the register to a server that has an older one, or none.
    case offer(Register)

    enum Verdict: Sendable, Hashable {
        case closed
        case open(for: Int64)
    }
}

/// The outcome of a request.
enum Outcome: Sendable, Hashable {
    /// Done; the register has this generation now.
    case accepted(generation: Int64)
    /// The register was not as the request needs it to be.
    case refused
}

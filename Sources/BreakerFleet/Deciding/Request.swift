import BreakerStore

/// A compare-and-set on a register: one statement, in a transaction of its own.
enum Request: Sendable, Hashable {
    /// Opens a closed register of this generation.
    case trip(generation: Int64, openFor: Int64, reason: String)
    /// Takes the right to probe, if it is free, and the register is of this generation, open, due and not held.
    case elect(generation: Int64)
    /// Keeps the right to probe for another lease.
    case renew(generation: Int64)
    /// Gives the right to probe back.
    case yield(generation: Int64)
    /// Reports how a probe ended: with the right to probe if `isElected`, else for a due register with that right
    /// free.
    case verdict(generation: Int64, Verdict, isElected: Bool)
    /// Sends an operator's word, unless the server has a newer word of its kind.
    case tell(LinkWord)
    /// Sends the register as this link knows it to a server that has an older one, or none.
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

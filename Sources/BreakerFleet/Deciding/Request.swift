import BreakerStore

/// A compare-and-set on a register: one statement each, in a transaction of its own.
enum Request: Sendable, Hashable {
    /// A closed register of this generation opens.
    case trip(generation: Int64, openFor: Int64, reason: String)
    /// Takes the right to probe: the register is of this generation, open and due, not held, and nobody has the right.
    case elect(generation: Int64)
    /// Keeps the right to probe for another lease.
    case renew(generation: Int64)
    /// Gives the right to probe back.
    case yield(generation: Int64)
    /// A probe has ended. With the right to probe if `isElected`; else only if the register is due and nobody has it.
    case verdict(generation: Int64, Verdict, isElected: Bool)
    /// What a person has said, if nothing newer of that kind was said.
    case tell(LinkWord)
    /// The register as this link knows it, for a server that has an older one or none.
    case offer(Register)

    enum Verdict: Sendable, Hashable {
        case closed
        case open(for: Int64)
    }
}

/// What became of a request.
enum Outcome: Sendable, Hashable {
    /// Done; the register has this generation now.
    case accepted(generation: Int64)
    /// The register was not as the request needs it to be.
    case refused
}

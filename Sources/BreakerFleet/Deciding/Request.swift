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
    /// What a person did on this host, so long ago; once for each key, and only if nothing newer was said.
    case operate(Operation, key: LinkedCircuit.Key, age: Int64, by: String?, reason: String?)
    /// The register as this link knows it, for a server that has an older one or none.
    case offer(Register)

    enum Verdict: Sendable, Hashable {
        case closed
        case open(for: Int64)
    }

    enum Operation: Sendable, Hashable {
        case reset
        case hold(HoldState, left: Int64?)
        case release
        case probe
    }
}

/// What became of a request.
enum Outcome: Sendable, Hashable {
    /// Done; the register has this generation now.
    case accepted(generation: Int64)
    /// The register was not as the request needs it to be.
    case refused
}

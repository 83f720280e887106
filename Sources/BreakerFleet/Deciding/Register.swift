import BreakerStore

/// What PostgreSQL holds of a circuit, as it was read: in durations, for no clock of a host is compared with another's.
struct Register: Sendable, Hashable {
    enum State: String, Sendable, Hashable { case closed, open }

    struct Hold: Sendable, Hashable {
        var state: HoldState
        var left: Int64?
        var by: String?
        var reason: String?

        /// Whether a file that has the other hold needs none; the ends are told in durations, at different moments.
        func isTheSame(as other: LinkedCircuit.Hold?) -> Bool {
            guard let other, other.state == self.state else { return false }
            switch (self.left, other.left) {
            case (nil, nil): return true
            case (let left?, let others?): return abs(left.subtractingSaturating(others)) < 2_000_000
            default: return false
            }
        }
    }

    struct Release: Sendable, Hashable {
        var by: String?
        var reason: String?
    }

    /// The right to probe.
    struct Lease: Sendable, Hashable {
        var host: String
        var left: Int64
    }

    var name: String
    /// The highest wins; it rises with each change but those of the lease.
    var generation: Int64
    var state: State
    /// How long ago the state was entered.
    var age: Int64
    /// For how long an open circuit refuses calls yet; 0 when a probe is due.
    var left: Int64 = 0
    /// For how long it was opened in all.
    var openFor: Int64 = 0
    var trips: Int = 0
    /// Why it is in this state, and who said so if a person did.
    var reason: String?
    var by: String?
    /// Whether a person's reset closed it.
    var isReset = false
    var hold: Hold?
    /// Who released the last hold, and why; nil while there is one, and where nobody did.
    var release: Release?
    /// How long ago the newest word of a person was said.
    var wordAge: Int64?
    var lease: Lease?
}

/// What was counted of all hosts for one circuit, in the windows of this host's own rules.
struct Count: Sendable, Hashable {
    /// The generation of the register when it was counted.
    var generation: Int64
    var failures: Int64 = 0
    /// Hosts that have failures.
    var hosts: Int = 0
    var failed = LinkedCircuit.Sum(calls: 0, bad: 0)
    /// Hosts that have failed calls within the window.
    var failedHosts: Int = 0
    var slow = LinkedCircuit.Sum(calls: 0, bad: 0)
    var slowHosts: Int = 0
}

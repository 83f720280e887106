#if PostgreSQL
package import BreakerStore

/// What the server knows of a fleet: durations in microseconds.
package struct FleetStatus: Sendable, Hashable {
    /// A host whose link has said that it is there, at least once within a day.
    package struct Host: Sendable, Hashable {
        package var name: String
        /// Which process the link runs in, and of which release it is.
        package var program: String
        /// Of one run of the link.
        package var session: String
        /// The number of the host's file.
        package var file: String
        /// How long ago the link last said that it is there.
        package var beat: Int64
        /// How many circuits the link joins.
        package var circuits: Int
        /// What the server, or the host's file, refuses to the link.
        package var trouble: String?
        /// For how long that has been so.
        package var troubleFor: Int64?

        /// Whether others count on the link: one that is gone or cut off says nothing.
        package var isJoined: Bool { self.beat < Registers.beatHolds }
    }

    /// A host's rule for a circuit.
    package struct Rule: Sendable, Hashable {
        package var circuit: String
        package var host: String
        package var rule: String
    }

    package var fleet: String
    /// How long the server took to answer.
    package var lag: Int64
    package var hosts: [Host]
    /// Those that are open or held come first.
    package var circuits: [FleetCircuit]
    /// The rules of circuits for which joined hosts have different ones.
    package var differing: [Rule]
}

/// A register, as people are shown it.
package struct FleetCircuit: Sendable, Hashable {
    private let register: Register

    init(_ register: Register) { self.register = register }

    package var name: String { self.register.name }
    package var isOpen: Bool { self.register.state == .open }
    package var generation: Int64 { self.register.generation }
    /// How long ago the state was entered.
    package var age: Int64 { self.register.age }
    /// Whether the circuit has ever changed: a new register is closed since ever.
    package var hasAge: Bool { self.register.age < FleetLimits.duration }
    /// For how long calls are refused yet; 0 when a probe is due.
    package var left: Int64 { self.register.left }
    package var trips: Int { self.register.trips }
    package var reason: String? { self.register.reason }
    /// The person who said so, if one did.
    package var by: String? { self.register.by }
    package var hold: (state: HoldState, left: Int64?, by: String?, reason: String?)? {
        self.register.hold.flatMap { word in word.hold.map { ($0, word.left, word.by, word.reason) } }
    }
    /// The host that may probe, and for how long yet.
    package var lease: (host: String, left: Int64)? { self.register.lease.map { ($0.host, $0.left) } }
    /// Whether all calls of all hosts are let through.
    package var letsThrough: Bool { self.register.hold.map { $0.hold == .closed } ?? !self.isOpen }
}
#endif

#if PostgreSQL
package import BreakerStore

/// A fleet as the server has it; durations are in microseconds.
package struct FleetStatus: Sendable, Hashable {
    /// A host whose link has sent a heartbeat within about a day.
    package struct Host: Sendable, Hashable {
        package var name: String
        /// The process of the link, and its release.
        package var program: String
        /// The random number of this run of the link.
        package var session: String
        /// The incarnation of the host's file.
        package var file: String
        /// How long ago the link last sent a heartbeat.
        package var beat: Int64
        /// How many circuits the link joins.
        package var circuits: Int
        /// A description of what the server, or the host's file, refuses to the link.
        package var trouble: String?
        /// How long the trouble has lasted.
        package var troubleFor: Int64?

        /// Whether the link sends heartbeats; a link that has ended or can't reach the server sends none.
        package var isJoined: Bool { self.beat < Registers.beatLifetime }
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
    /// The circuits, with the open and held ones first.
    package var circuits: [FleetCircuit]
    /// The rules of the circuits for which joined hosts have different rules.
    package var differing: [Rule]
}

/// A register, as programs show it to people.
package struct FleetCircuit: Sendable, Hashable {
    private let register: Register

    init(_ register: Register) { self.register = register }

    package var name: String { self.register.name }
    package var isOpen: Bool { self.register.state == .open }
    package var generation: Int64 { self.register.generation }
    /// How long ago the register entered its state.
    package var age: Int64 { self.register.age }
    /// Whether the circuit has ever changed state; a new register's age is unlimited.
    package var hasAge: Bool { self.register.age < FleetLimits.duration }
    /// How long calls are still refused; 0 when a probe is due.
    package var left: Int64 { self.register.left }
    package var trips: Int { self.register.trips }
    package var reason: String? { self.register.reason }
    /// The operator who set the state, if one did.
    package var by: String? { self.register.by }
    package var hold: (state: HoldState, left: Int64?, by: String?, reason: String?)? {
        self.register.hold.flatMap { command in command.hold.map { ($0, command.left, command.by, command.reason) } }
    }
    /// The host that may probe, and how long it still may.
    package var lease: (host: String, left: Int64)? { self.register.lease.map { ($0.host, $0.left) } }
    /// Whether all hosts admit all calls.
    package var letsThrough: Bool { self.register.hold.map { $0.hold == .closed } ?? !self.isOpen }
}
#endif

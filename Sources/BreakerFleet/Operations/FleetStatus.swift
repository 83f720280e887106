#if PostgreSQL
package import BreakerStore

/// A fleet as the server has it; durations are in microseconds.
package struct FleetStatus: Sendable, Hashable {
    /// A host that has joined the fleet, and that no operator has made the fleet forget.
    package struct Host: Sendable, Hashable {
        /// What the server knows of a host's link.
        package enum Link: String, Sendable, Hashable {
            /// The link sends heartbeats, and nothing is refused to it.
            case joined
            /// The link says that something is refused to it, or it is silent and has not left.
            case cutOff = "cut-off"
            /// The link has ended in order.
            case left
        }

        /// The host's name as people see it.
        package var name: String
        /// The name as the server has it.
        var storedName: String
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

        /// How long ago the link ended in order; nil if it has not, or if a link works again.
        package var leftFor: Int64?

        /// Whether people mean this host by a name.
        package func isNamed(_ name: String) -> Bool {
            ExactName(name) == ExactName(self.storedName) || ExactName(name) == ExactName(self.name)
        }

        package var link: Link {
            if self.leftFor != nil { return .left }
            return self.sendsHeartbeats && self.trouble == nil ? .joined : .cutOff
        }

        /// How long ago the server last heard of the link.
        package var heard: Int64 { self.leftFor ?? self.beat }

        /// Whether the link sends heartbeats; a link that has ended or can't reach the server sends none.
        package var sendsHeartbeats: Bool { self.beat < Registers.beatLifetime }
    }

    /// A circuit that a joined host has opened by its own rule.
    package struct OwnTrip: Sendable, Hashable {
        package var circuit: String
        package var host: String
        package var isHalfOpen: Bool
        /// How long ago it tripped.
        package var age: Int64
        package var lastError: String?
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
    /// The circuits that single hosts have opened, also those that are open on all hosts.
    package var ownTrips: [OwnTrip]
    /// The rules of the circuits for which joined hosts have different rules.
    package var differing: [Rule]

    /// The circuit of a name, compared by its bytes.
    package func circuit(named name: String) -> FleetCircuit? {
        self.circuits.first { ExactName($0.name) == ExactName(name) }
    }

    /// The own trips of circuits that are not open or held on all hosts.
    package var loneTrips: [OwnTrip] {
        let shared = Names(self.circuits.lazy.filter { !$0.isPlainlyClosed }.map(\.name))
        return self.ownTrips.filter { !shared.contains($0.circuit) }
    }

    /// Whether hosts have opened the circuit that is closed on all others.
    package func isOpenOnSingleHosts(_ circuit: FleetCircuit) -> Bool {
        circuit.isPlainlyClosed && self.ownTrips.contains { ExactName($0.circuit) == ExactName(circuit.name) }
    }
}

/// A register, as programs show it to people.
package struct FleetCircuit: Sendable, Hashable {
    let register: Register

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
    package var hold: (state: HoldState, age: Int64, left: Int64?, by: String?, reason: String?)? {
        self.register.hold.flatMap { command in
            command.hold.map { ($0, command.age, command.left, command.by, command.reason) }
        }
    }
    /// The host that may probe, and how long it still may.
    package var lease: (host: String, left: Int64)? { self.register.lease.map { ($0.host, $0.left) } }
    /// Whether the circuit is closed, and not by a hold.
    package var isPlainlyClosed: Bool { !self.isOpen && self.hold == nil }
    /// Whether all hosts admit all calls, but for those of hosts that have opened the circuit themselves.
    package var letsThrough: Bool { self.register.hold.map { $0.hold == .closed } ?? !self.isOpen }
}
#endif

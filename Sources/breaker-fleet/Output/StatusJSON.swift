#if PostgreSQL
import BreakerFleet
import BreakerStore
import BreakerStoreJSON

extension FleetStatus {
    /// The members of the document that `status` prints; durations in seconds.
    var json: [String: JSONValue] {
        [
            "fleet": .string(self.fleet), "lag": .seconds(self.lag),
            "hosts": .array(self.hosts.map { $0.json }), "circuits": .array(self.circuits.map { $0.json }),
            "ownTrips": .array(self.ownTrips.map { $0.json }),
            "differingRules": .array(
                self.differing.map {
                    .object(["circuit": .string($0.circuit), "host": .string($0.host), "rule": .string($0.rule)])
                }),
        ]
    }
}

extension FleetStatus.Host {
    /// `health` is what the document of 0.6.0 has; `link` also tells a host that left from one that is cut off.
    fileprivate var json: JSONValue {
        .object([
            "name": .string(self.name), "health": .string(self.sendsHeartbeats ? "joined" : "gone"),
            "link": .string(self.link.rawValue), "leftAgo": self.leftFor.map { .seconds($0) } ?? .null,
            "heardAgo": .seconds(self.heard), "session": .string(self.session), "program": .string(self.program),
            "circuits": .count(self.circuits), "trouble": .text(self.trouble),
            "troubleFor": self.troubleFor.map { .seconds($0) } ?? .null,
        ])
    }
}

extension FleetStatus.OwnTrip {
    var json: JSONValue {
        .object([
            "circuit": .string(self.circuit), "host": .string(self.host),
            "state": .string(self.word), "sinceAgo": .seconds(self.age),
            "lastError": .text(self.lastError),
        ])
    }
}

extension FleetCircuit {
    var json: JSONValue {
        .object([
            "name": .string(self.name), "state": .string(self.isOpen ? "open" : "closed"),
            "generation": .integer(self.generation), "sinceAgo": .seconds(self.age),
            "openFor": self.isOpen ? .seconds(self.left) : .null, "tripsInARow": .count(self.trips),
            "reason": .text(self.reason), "by": .text(self.by),
            "hold": self.hold.map { hold in
                .object([
                    "state": .string(hold.state.rawValue), "sinceAgo": .seconds(hold.age),
                    "endsIn": hold.left.map { .seconds($0) } ?? .null,
                    "by": .text(hold.by), "reason": .text(hold.reason),
                ])
            } ?? .null,
            "lease": self.lease.map { lease in
                .object(["host": .string(lease.host), "endsIn": .seconds(lease.left)])
            } ?? .null,
        ])
    }
}

extension JSONValue {
    fileprivate static func seconds(_ microseconds: Int64) -> JSONValue { .number(Double(microseconds) / 1_000_000) }
}
#endif

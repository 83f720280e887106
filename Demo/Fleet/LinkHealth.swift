#if PostgreSQL
import BreakerFleet

/// How a host's link stands with PostgreSQL, in the words with which `breaker-fleet run` begins to tell of it.
enum LinkHealth: String, CaseIterable {
    case joined
    case standby = "stands by"
    case cutOff = "cut off"
    case closed = "stopped"

    init(_ health: FleetHealth) {
        self =
            switch health {
            case .joined: .joined
            case .standby: .standby
            case .cutOff: .cutOff
            case .closed: .closed
            }
    }

    /// Reads a line such as `2026-11-23T11:09:22.344Z north: joined: circuits are shared with the other hosts`.
    init?(line: String, of host: String) {
        guard let name = line.firstRange(of: "\(host): ") else { return nil }
        let words = line[name.upperBound...]
        guard let health = Self.allCases.first(where: { words.hasPrefix($0.rawValue) }) else { return nil }
        self = health
    }
}
#endif

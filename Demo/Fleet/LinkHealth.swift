#if PostgreSQL
import BreakerFleet

/// How a host's link stands with PostgreSQL, as the link tells of it in a line.
enum LinkHealth: String {
    case joined
    case standby
    case cutOff = "cut off"
    case closed

    init(_ health: FleetHealth) {
        self =
            switch health {
            case .joined: .joined
            case .standby: .standby
            case .cutOff: .cutOff
            case .closed: .closed
            }
    }
}
#endif

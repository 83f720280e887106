public enum HoldState: String, Sendable, Hashable, Codable { case open, closed }
public enum RefusalCause: String, Sendable, Hashable, Codable { case open, probing, held }
public struct CircuitEvent: Sendable { public enum Kind: String, Sendable, Hashable, Codable {
        case configured, tripped, probing, probeExpired, reopened, closed, reset, held, released, forgotten, degraded, restored, quarantined, missed
    } }

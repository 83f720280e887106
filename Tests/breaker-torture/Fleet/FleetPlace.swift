#if PostgreSQL
import BreakerStore
import BreakerTestSupport

/// What the processes of one round share: a directory, and what each of them finds there.
struct FleetPlace: Sendable {
    static let circuit = "api"
    static let guardTime = Duration.seconds(1)
    static let lease = Duration.seconds(1)
    /// So many failures trip the fleet, and a host that is alone.
    static let failures = 30
    static let window = Duration.seconds(60)
    /// One host alone never opens the others.
    static let minimumHosts = 2

    static var config: CircuitBreaker.Config {
        CircuitBreaker.Config(
            name: self.circuit, trip: .failures(self.failures, within: self.window),
            recovery: RecoveryRule(timeout: .milliseconds(400)))
    }

    let directory: String

    init(_ directory: String) { self.directory = directory }

    var numbers: SharedNumbers {
        get throws { try SharedNumbers(path: self.directory + "/numbers") }
    }

    func folder(of host: Int) -> String { "\(self.directory)/h\(host)" }
    func file(of host: Int) -> String { self.folder(of: host) + "/circuits.db" }
    /// What the host's callers have seen, one log for each of their threads.
    func logs(of host: Int) throws -> [CallLog] {
        try (0..<FleetCaller.threads).map { try CallLog(self.folder(of: host), $0, most: 1 << 15) }
    }

    /// When processes did not run though they wanted to.
    var lateness: String { self.directory + "/lateness" }

    /// Whether the service fails.
    static let isDown = 0
    /// How long the slowest call took, in microseconds.
    static let slowest = 1
    /// Whether nobody calls on a host.
    static func isIdle(_ host: Int) -> Int { 16 + host }

    /// Microseconds since this machine booted.
    static var now: Int64 { Int64(SystemHostClock().uptime / .microseconds(1)) }
}
#endif

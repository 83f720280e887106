@testable import BreakerStore

extension SplitMix64 {
    /// Valid rules, often at the ends of what is allowed.
    mutating func rules() -> Rules {
        var config = CircuitBreaker.Config(name: "-")
        config.trip =
            switch self.number(in: 0...2) {
            case 0: .failures(self.count(1_000_000), within: self.duration(from: 1))
            case 1: .consecutiveFailures(self.count(1_000_000))
            default:
                .failureRate(
                    self.share(), minimumCalls: self.count(1_000_000), within: self.duration(from: 1_000))
            }
        if self.chance(50) {
            config.slow = SlowCallRule(
                longerThan: self.duration(from: 1), share: self.share(), minimumCalls: self.count(1_000_000),
                within: self.duration(from: 1_000))
        }
        config.recovery = RecoveryRule(
            timeout: self.duration(from: 1), multiplier: 1 + 999 * (self.chance(30) ? 0 : self.share()),
            cap: self.duration(from: 1), jitter: self.chance(30) ? 0 : self.share(),
            outageCap: self.duration(from: 1))
        config.probes = ProbeRule(
            limit: self.count(10_000), successesToClose: self.count(10_000), lease: self.duration(from: 1),
            growth: self.chance(50) ? 1 : self.count(10_000),
            toleratedShare: self.chance(50) ? 0 : min(self.share(), 1.0.nextDown))
        config.minimumReporters = self.count(config.slow != nil || config.trip.share != nil ? 16 : 10_000)
        return Rules(config)
    }

    private mutating func count(_ most: Int) -> Int {
        switch self.number(in: 0...3) {
        case 0: 1
        case 1: most
        default: self.number(in: 1...most)
        }
    }

    private mutating func duration(from least: Int64) -> Duration {
        let most: Int64 = 3_200_000_000_000_000
        switch self.number(in: 0...3) {
        case 0: return Duration(wholeMicroseconds: least)
        case 1: return Duration(wholeMicroseconds: most)
        default: return Duration(wholeMicroseconds: least + Int64(self.next() % UInt64(most - least)))
        }
    }

    private mutating func share() -> Double {
        switch self.number(in: 0...4) {
        case 0: 1
        case 1: .leastNonzeroMagnitude
        case 2: Double(self.number(in: 1...999)) / 1_000
        default: Double(self.next() >> 11 | 1) * 0x1p-53
        }
    }
}

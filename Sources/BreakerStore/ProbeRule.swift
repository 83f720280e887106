/// How a half-open circuit finds out whether its service is back.
public struct ProbeRule: Sendable, Hashable, Codable, CustomStringConvertible {
    /// How many probes may be under way at a time, in all processes together: 1 to 10,000.
    ///
    /// With a ``growth`` above 1 it is the number of the first round. The default is 1.
    public var limit: Int

    /// How many probes must succeed before the circuit closes: 1 to 10,000.
    ///
    /// The default is 1.
    public var successesToClose: Int

    /// How long a probe may take before its result is stale and its slot free: above zero, at most a hundred years,
    /// rounded to microseconds.
    ///
    /// A call's timeout must not exceed the lease. The default is 30 s.
    public var lease: Duration {
        didSet { self.lease = self.lease.roundedToMicroseconds }
    }

    /// By how much the number of probes at a time is multiplied after each round of successful probes: 1 to 10,000.
    ///
    /// The first round has ``limit`` probes, and a round ends when as many probes have succeeded as may run at a time
    /// in it. With 1 and a growth of 2, one probe runs at a time, then two, then four, until ``successesToClose`` of
    /// them have succeeded; never more than 10,000. When the circuit opens again, it begins again with ``limit``. The
    /// default is 1: each round is as large as the first.
    public var growth: Int

    /// The share of ``successesToClose`` probes that may fail without opening the circuit again: 0 up to, but not
    /// including, 1.
    ///
    /// The circuit opens again as soon as more probes than that have failed since it became half-open. With 20
    /// successes to close and a share of 0.1, two probes may fail; the third failure opens it. So a share has an effect
    /// only if it allows at least one of them. Calls that were ignored, and probes whose lease ended, do not count. A
    /// probe that reports an outage always opens the circuit. The default is 0: each failure opens it.
    public var toleratedShare: Double

    /// Creates a rule, its lease rounded to microseconds; it is validated when a circuit is registered with it.
    public init(
        limit: Int = 1, successesToClose: Int = 1, lease: Duration = .seconds(30), growth: Int = 1,
        toleratedShare: Double = 0
    ) {
        self.limit = limit
        self.successesToClose = successesToClose
        self.lease = lease.roundedToMicroseconds
        self.growth = growth
        self.toleratedShare = toleratedShare
    }

    /// The largest number of probes at a time.
    static let largestCount = 10_000

    /// The rule in words.
    public var description: String {
        var text = "\(self.limit) at a time"
        if self.growth != 1 { text += ", × \(self.growth) after each round" }
        text += ", \(self.successesToClose) to close"
        if self.toleratedShare != 0 { text += ", \(CallRate.percent(self.toleratedShare)) may fail" }
        return text + ", lease \(self.lease.readable)"
    }

    func validate() throws(BreakerStoreError) {
        try Validation.count(self.limit, in: 1...Self.largestCount, "probes.limit")
        try Validation.count(self.successesToClose, in: 1...10_000, "probes.successesToClose")
        try Validation.duration(self.lease, "probes.lease")
        try Validation.count(self.growth, in: 1...10_000, "probes.growth")
        // NaN is in no range.
        guard (0..<1).contains(self.toleratedShare) else {
            throw Validation.error(
                "probes.toleratedShare", "\(self.toleratedShare)", allowed: "0 or more, below 1")
        }
    }
}

extension ProbeRule {
    private enum CodingKeys: String, CodingKey {
        case limit, successesToClose, leaseMicroseconds, growth, toleratedShare
    }

    /// Reads a rule; a missing value is its default.
    ///
    /// Throws a `DecodingError` when a value is of another type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let standard = ProbeRule()
        self.init(
            limit: try container.decodeIfPresent(Int.self, forKey: .limit) ?? standard.limit,
            successesToClose: try container.decodeIfPresent(Int.self, forKey: .successesToClose)
                ?? standard.successesToClose,
            lease: try container.decodeMicrosecondsIfPresent(forKey: .leaseMicroseconds) ?? standard.lease,
            growth: try container.decodeIfPresent(Int.self, forKey: .growth) ?? standard.growth,
            toleratedShare: try container.decodeIfPresent(Double.self, forKey: .toleratedShare)
                ?? standard.toleratedShare)
    }

    /// Writes the rule, its lease as whole microseconds; `growth` and `toleratedShare` only if they are not the
    /// defaults.
    ///
    /// Throws `EncodingError.invalidValue` when the lease is too long for microseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.limit, forKey: .limit)
        try container.encode(self.successesToClose, forKey: .successesToClose)
        try container.encode(microsecondsOf: self.lease, forKey: .leaseMicroseconds)
        if self.growth != 1 { try container.encode(self.growth, forKey: .growth) }
        if self.toleratedShare != 0 { try container.encode(self.toleratedShare, forKey: .toleratedShare) }
    }
}

extension ProbeRule {
    /// How many probes may run at a time after so many successes.
    ///
    /// The first round has `limit` of them, and each later round `growth` times as many as the round before. A round
    /// ends with as many successes as it has probes.
    func limit(after successes: Int) -> Int {
        var limit = self.limit
        // A row or a caller that was not validated may have any number here.
        guard self.growth > 1, limit > 0 else { return limit }
        var rest = successes
        while rest >= limit, limit < Self.largestCount {
            rest -= limit
            let (product, isTooLarge) = limit.multipliedReportingOverflow(by: self.growth)
            limit = isTooLarge ? Self.largestCount : min(product, Self.largestCount)
        }
        return limit
    }

    /// Whether so many failed probes leave the circuit half-open.
    ///
    /// Compares the quotient: the product `toleratedShare * successesToClose` misses some shares that are just allowed.
    func tolerates(failures: Int) -> Bool {
        self.toleratedShare > 0 && Double(failures) / Double(max(1, self.successesToClose)) <= self.toleratedShare
    }
}

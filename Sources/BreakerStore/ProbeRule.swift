/// How a half-open circuit finds out whether its service is back.
public struct ProbeRule: Sendable, Hashable, Codable, CustomStringConvertible {
    /// How many probes may be under way at a time, in all processes together: 1 to 10,000.
    ///
    /// The default is 1.
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

    /// Creates a rule, its lease rounded to microseconds; it is validated when a circuit is registered with it.
    public init(limit: Int = 1, successesToClose: Int = 1, lease: Duration = .seconds(30)) {
        self.limit = limit
        self.successesToClose = successesToClose
        self.lease = lease.roundedToMicroseconds
    }

    /// The rule in words.
    public var description: String {
        "\(self.limit) at a time, \(self.successesToClose) to close, lease \(self.lease.readable)"
    }

    func validate() throws(BreakerStoreError) {
        try Validation.count(self.limit, in: 1...10_000, "probes.limit")
        try Validation.count(self.successesToClose, in: 1...10_000, "probes.successesToClose")
        try Validation.duration(self.lease, "probes.lease")
    }
}

extension ProbeRule {
    private enum CodingKeys: String, CodingKey {
        case limit, successesToClose, leaseMicroseconds
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
            lease: try container.decodeMicrosecondsIfPresent(forKey: .leaseMicroseconds) ?? standard.lease)
    }

    /// Writes the rule, its lease as whole microseconds.
    ///
    /// Throws `EncodingError.invalidValue` when the lease is too long for microseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.limit, forKey: .limit)
        try container.encode(self.successesToClose, forKey: .successesToClose)
        try container.encode(microsecondsOf: self.lease, forKey: .leaseMicroseconds)
    }
}

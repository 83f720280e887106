/// How long a tripped circuit stays open before it lets a probe through.
public struct RecoveryRule: Sendable, Hashable, Codable, CustomStringConvertible {
    /// How long the circuit stays open after its first trip: above zero, at most a hundred years, rounded to
    /// microseconds.
    ///
    /// The default is 30 s.
    public var timeout: Duration {
        didSet { self.timeout = self.timeout.roundedToMicroseconds }
    }

    /// The factor by which each further trip in a row multiplies the timeout: 1 to 1,000.
    ///
    /// The default is 1.
    public var multiplier: Double

    /// The longest timeout that multiplication gives, before jitter: above zero, at most a hundred years, rounded to
    /// microseconds.
    ///
    /// The cap never lowers the timeout itself: with a cap below `timeout`, each trip waits `timeout`. The default is
    /// 600 s.
    public var cap: Duration {
        didSet { self.cap = self.cap.roundedToMicroseconds }
    }

    /// The largest share of the wait that is added by chance, so that many circuits don't probe at once: 0 to 1.
    ///
    /// The default is 0.
    public var jitter: Double

    /// The longest time for which an outage that the provider declares opens the circuit: above zero, at most a hundred
    /// years, rounded to microseconds.
    ///
    /// See ``Verdict/outage(for:)``. The default is 24 hours.
    public var outageCap: Duration {
        didSet { self.outageCap = self.outageCap.roundedToMicroseconds }
    }

    static let defaultOutageCap = Duration.seconds(86_400)

    /// Creates a rule, its durations rounded to microseconds; it is validated when a circuit is registered with it.
    public init(
        timeout: Duration = .seconds(30), multiplier: Double = 1, cap: Duration = .seconds(600), jitter: Double = 0,
        outageCap: Duration = .seconds(86_400)
    ) {
        self.timeout = timeout.roundedToMicroseconds
        self.multiplier = multiplier
        self.cap = cap.roundedToMicroseconds
        self.jitter = jitter
        self.outageCap = outageCap.roundedToMicroseconds
    }

    /// The rule in words.
    public var description: String {
        var text = self.timeout.readable
        if self.multiplier != 1 {
            text += ", × \(self.multiplier) for each trip in a row, at most \(self.cap.readable)"
        }
        if self.jitter > 0 { text += ", jitter \(self.jitter)" }
        if self.outageCap != Self.defaultOutageCap { text += ", a declared outage at most \(self.outageCap.readable)" }
        return text
    }

    func validate() throws(BreakerStoreError) {
        try Validation.duration(self.timeout, "recovery.timeout")
        try Validation.number(self.multiplier, in: 1...1_000, "recovery.multiplier")
        try Validation.duration(self.cap, "recovery.cap")
        try Validation.number(self.jitter, in: 0...1, "recovery.jitter")
        try Validation.duration(self.outageCap, "recovery.outageCap")
    }
}

extension RecoveryRule {
    private enum CodingKeys: String, CodingKey {
        case timeoutMicroseconds, multiplier, capMicroseconds, jitter, outageCapMicroseconds
    }

    /// Reads a rule; a missing value is its default.
    ///
    /// Throws a `DecodingError` when a value is of another type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let standard = RecoveryRule()
        self.init(
            timeout: try container.decodeMicrosecondsIfPresent(forKey: .timeoutMicroseconds) ?? standard.timeout,
            multiplier: try container.decodeIfPresent(Double.self, forKey: .multiplier) ?? standard.multiplier,
            cap: try container.decodeMicrosecondsIfPresent(forKey: .capMicroseconds) ?? standard.cap,
            jitter: try container.decodeIfPresent(Double.self, forKey: .jitter) ?? standard.jitter,
            outageCap: try container.decodeMicrosecondsIfPresent(forKey: .outageCapMicroseconds)
                ?? standard.outageCap)
    }

    /// Writes the rule, its durations as whole microseconds, without an `outageCap` that is the default.
    ///
    /// Throws `EncodingError.invalidValue` when a duration is too long for microseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(microsecondsOf: self.timeout, forKey: .timeoutMicroseconds)
        try container.encode(self.multiplier, forKey: .multiplier)
        try container.encode(microsecondsOf: self.cap, forKey: .capMicroseconds)
        try container.encode(self.jitter, forKey: .jitter)
        if self.outageCap != Self.defaultOutageCap {
            try container.encode(microsecondsOf: self.outageCap, forKey: .outageCapMicroseconds)
        }
    }
}

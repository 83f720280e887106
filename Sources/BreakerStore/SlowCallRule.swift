/// Trips a closed circuit when too many of the calls of all processes within a window were slow.
///
/// ```swift
/// // Trips when half of at least 20 calls within a minute took longer than two seconds.
/// let slow = SlowCallRule(longerThan: .seconds(2), share: 0.5, minimumCalls: 20, within: .seconds(60))
/// let search = try store.breaker(.init(name: "search", slow: slow))
/// let results = try await search.run { try await api.fetchUser() }
/// ```
///
/// The rule works beside the circuit's ``TripRule``. Only calls that succeeded or failed count. A call that is slow and
/// fails counts for both rules; a slow probe opens the circuit again, even if it succeeded.
public struct SlowCallRule: Sendable, Hashable, Codable, CustomStringConvertible {
    /// A call that takes longer is slow: above zero, at most a hundred years, rounded to microseconds.
    public var threshold: Duration {
        didSet { self.threshold = self.threshold.roundedToMicroseconds }
    }

    /// The share of the calls that must be slow: above 0, at most 1.
    public var share: Double

    /// How many calls the window must have before the circuit trips: 1 to 1,000,000.
    public var minimumCalls: Int

    /// How long a call counts: a millisecond to a hundred years, rounded to microseconds.
    public var window: Duration {
        didSet { self.window = self.window.roundedToMicroseconds }
    }

    /// Creates a rule, its durations rounded to microseconds; it is validated when a circuit is registered with it.
    public init(
        longerThan threshold: Duration, share: Double = 0.5, minimumCalls: Int = 20,
        within window: Duration = .seconds(60)
    ) {
        self.threshold = threshold.roundedToMicroseconds
        self.share = share
        self.minimumCalls = minimumCalls
        self.window = window.roundedToMicroseconds
    }

    /// The rule in words.
    public var description: String {
        let calls = CallRate(share: self.share, minimumCalls: self.minimumCalls)
        return "\(calls) slower than \(self.threshold.readable) within \(self.window.readable)"
    }

    func validate() throws(BreakerStoreError) {
        try Validation.duration(self.threshold, "slow.threshold")
        try CallRate(share: self.share, minimumCalls: self.minimumCalls).validate("slow")
        try Validation.window(self.window, "slow.window")
    }
}

extension SlowCallRule {
    private enum CodingKeys: String, CodingKey {
        case thresholdMicroseconds, share, minimumCalls, windowMicroseconds
    }

    /// Reads a rule; every value but the threshold may be missing, and then has its default.
    ///
    /// Throws a `DecodingError` when the threshold is missing, or a value is of another type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(longerThan: try container.decodeMicroseconds(forKey: .thresholdMicroseconds))
        self.share = try container.decodeIfPresent(Double.self, forKey: .share) ?? self.share
        self.minimumCalls = try container.decodeIfPresent(Int.self, forKey: .minimumCalls) ?? self.minimumCalls
        self.window = try container.decodeMicrosecondsIfPresent(forKey: .windowMicroseconds) ?? self.window
    }

    /// Writes the rule, its durations as whole microseconds.
    ///
    /// Throws `EncodingError.invalidValue` when a duration is too long for microseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(microsecondsOf: self.threshold, forKey: .thresholdMicroseconds)
        try container.encode(self.share, forKey: .share)
        try container.encode(self.minimumCalls, forKey: .minimumCalls)
        try container.encode(microsecondsOf: self.window, forKey: .windowMicroseconds)
    }
}

extension CallRate {
    func validate(_ field: String) throws(BreakerStoreError) {
        guard self.share > 0, self.share <= 1 else {
            throw Validation.error("\(field).share", "\(self.share)", allowed: "above 0, at most 1")
        }
        try Validation.count(self.minimumCalls, in: 1...1_000_000, "\(field).minimumCalls")
    }
}

/// When a closed circuit trips.
///
/// ```swift
/// // Few calls: five failures within a minute, counted over all processes.
/// let users = CircuitBreaker.Config(name: "users", trip: .failures(5, within: .seconds(60)))
///
/// // Many calls: half of at least 20 calls within ten seconds.
/// let rate = TripRule.failureRate(0.5, minimumCalls: 20, within: .seconds(10))
/// let search = CircuitBreaker.Config(name: "search", trip: rate)
///
/// // One call now and then: three failures in a row, however far apart.
/// let rates = CircuitBreaker.Config(name: "rates", trip: .consecutiveFailures(3))
/// ```
///
/// A struct, so that rules can be added without breaking code that switches over them.
public struct TripRule: Sendable, Hashable, Codable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        case failures(Int, within: Duration)
        case consecutiveFailures(Int)
        case failureRate(Double, minimumCalls: Int, within: Duration)
        /// What a later release has stored and this one can't use: mostly the word of a rule; empty if the stored rules
        /// can't be read.
        case unknown(String)
    }

    package let kind: Kind

    /// Trips at `count` failures within a rolling window; successes in between change nothing.
    ///
    /// The window is inclusive: a failure exactly `window` old still counts. It is rounded to microseconds.
    /// - Parameters:
    ///   - count: 1 to 1,000,000.
    ///   - window: Above zero, at most a hundred years.
    public static func failures(_ count: Int, within window: Duration) -> TripRule {
        TripRule(kind: .failures(count, within: window.roundedToMicroseconds))
    }

    /// Trips at `count` failures in a row, however far apart; a success forgets them.
    ///
    /// - Parameter count: 1 to 1,000,000.
    public static func consecutiveFailures(_ count: Int) -> TripRule {
        TripRule(kind: .consecutiveFailures(count))
    }

    /// Trips when the failure rate of all processes within a rolling window is too high.
    ///
    /// Only calls that succeeded or failed count. A process judges the circuit when a call of its own fails, and up to
    /// 50 ms after one of another process has failed. A change of the circuit's state begins the window again. The
    /// window is rounded to microseconds.
    /// - Parameters:
    ///   - share: The share that must fail: above 0, at most 1.
    ///   - minimumCalls: With fewer calls within the window the circuit never trips: 1 to 1,000,000.
    ///   - window: A millisecond to a hundred years.
    public static func failureRate(_ share: Double, minimumCalls: Int, within window: Duration) -> TripRule {
        TripRule(kind: .failureRate(share, minimumCalls: minimumCalls, within: window.roundedToMicroseconds))
    }

    /// How many failures trip the circuit; nil for a failure rate, and for a rule of a later version.
    public var count: Int? {
        switch self.kind {
        case .failures(let count, within: _), .consecutiveFailures(let count): count
        case .failureRate, .unknown: nil
        }
    }

    /// The share of the calls that must fail; nil for a number of failures, and for a rule of a later version.
    public var share: Double? {
        switch self.kind {
        case .failureRate(let share, minimumCalls: _, within: _): share
        case .failures, .consecutiveFailures, .unknown: nil
        }
    }

    /// How many calls the window must have for a share to count; nil for a number of failures, and for a rule of a
    /// later version.
    public var minimumCalls: Int? {
        switch self.kind {
        case .failureRate(_, let calls, within: _): calls
        case .failures, .consecutiveFailures, .unknown: nil
        }
    }

    /// How long a failure counts, or each call under a failure rate.
    ///
    /// Nil where a failure counts until a success, and for a rule of a later version.
    public var window: Duration? {
        switch self.kind {
        case .failures(_, within: let window), .failureRate(_, minimumCalls: _, let window): window
        case .consecutiveFailures, .unknown: nil
        }
    }

    /// The rule in words; a rule of a later version is named by its word.
    public var description: String {
        switch self.kind {
        case .failures(let count, within: let window): "\(count) within \(window.readable)"
        case .consecutiveFailures(let count): "\(count) in a row"
        case .failureRate(let share, let calls, let window):
            "\(CallRate(share: share, minimumCalls: calls)) within \(window.readable)"
        case .unknown(""): "rules that can't be read"
        case .unknown(let word): "\(word.escaped), of a later release"
        }
    }

    func validate() throws(BreakerStoreError) {
        switch self.kind {
        case .failures(let count, let window):
            try Validation.count(count, in: 1...1_000_000, "trip.count")
            try Validation.duration(window, "trip.window")
        case .consecutiveFailures(let count):
            try Validation.count(count, in: 1...1_000_000, "trip.count")
        case .failureRate(let share, let calls, let window):
            try CallRate(share: share, minimumCalls: calls).validate("trip")
            try Validation.window(window, "trip.window")
        case .unknown(let word):
            throw Validation.error("trip", word.quoted, allowed: "a rule that this version of the library knows")
        }
    }
}

extension TripRule {
    private enum CodingKeys: String, CodingKey {
        case rule, count, share, minimumCalls, windowMicroseconds
    }

    enum Word: String {
        case failures, consecutiveFailures, failureRate
    }

    /// The word of the rule in texts; nil for a rule of a later version.
    var word: Word? {
        switch self.kind {
        case .failures: .failures
        case .consecutiveFailures: .consecutiveFailures
        case .failureRate: .failureRate
        case .unknown: nil
        }
    }

    /// Reads a rule by its word.
    ///
    /// Throws `DecodingError.dataCorrupted` when this version doesn't know the word, other decoding errors when a value
    /// is missing or of another type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let word = try container.decode(String.self, forKey: .rule)
        func count() throws -> Int { try container.decode(Int.self, forKey: .count) }
        switch Word(rawValue: word) {
        case .failures:
            self = .failures(try count(), within: try container.decodeMicroseconds(forKey: .windowMicroseconds))
        case .consecutiveFailures:
            self = .consecutiveFailures(try count())
        case .failureRate:
            self = .failureRate(
                try container.decode(Double.self, forKey: .share),
                minimumCalls: try container.decode(Int.self, forKey: .minimumCalls),
                within: try container.decodeMicroseconds(forKey: .windowMicroseconds))
        case nil:
            throw DecodingError.dataCorruptedError(
                forKey: .rule, in: container, debugDescription: "unknown trip rule \(word.quoted)")
        }
    }

    /// Writes the rule as a word and whole numbers, the window in microseconds.
    ///
    /// Throws `EncodingError.invalidValue` when the window is too long for microseconds, and for a rule of a later
    /// version.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self.kind {
        case .failures(let count, let window):
            try container.encode(Word.failures.rawValue, forKey: .rule)
            try container.encode(count, forKey: .count)
            try container.encode(microsecondsOf: window, forKey: .windowMicroseconds)
        case .consecutiveFailures(let count):
            try container.encode(Word.consecutiveFailures.rawValue, forKey: .rule)
            try container.encode(count, forKey: .count)
        case .failureRate(let share, let calls, let window):
            try container.encode(Word.failureRate.rawValue, forKey: .rule)
            try container.encode(share, forKey: .share)
            try container.encode(calls, forKey: .minimumCalls)
            try container.encode(microsecondsOf: window, forKey: .windowMicroseconds)
        case .unknown(let word):
            let context = EncodingError.Context(
                codingPath: container.codingPath, debugDescription: "unknown trip rule \(word.quoted)")
            throw EncodingError.invalidValue(self, context)
        }
    }
}

extension CircuitBreaker {
    /// The configuration of a circuit, which all processes share.
    ///
    /// It is stored with the circuit and validated at registration; the newest registration applies to every live
    /// handle.
    public struct Config: Sendable, Hashable, Codable {
        /// The circuit's identity: 1 to 200 characters (Unicode scalars), no control characters.
        public var name: String

        /// A label by which circuits can be listed, with the limits of `name`.
        ///
        /// The default is nil.
        public var group: String?

        /// When the circuit trips.
        ///
        /// The default is 5 failures within 60 s.
        public var trip: TripRule

        /// When slow calls trip the circuit, beside `trip`.
        ///
        /// The default is nil: the circuit ignores how long calls take.
        public var slow: SlowCallRule? {
            get { self.boxedSlow?.value }
            set { self.boxedSlow = newValue.map { .value($0) } }
        }

        /// Boxed, because a process may keep a hundred thousand configs, and few have a slow rule.
        private var boxedSlow: Boxed<SlowCallRule>?

        /// How long the circuit stays open after a trip.
        ///
        /// The default is 30 s after each trip.
        public var recovery: RecoveryRule

        /// How the circuit finds out whether its service is back.
        ///
        /// The default is one probe at a time, one success, a lease of 30 s.
        public var probes: ProbeRule

        /// How many different workers must have seen failures before the circuit trips: 1 to 10,000.
        ///
        /// A worker that has ended does not count beside living ones. At most 16 with a failure-rate or slow-call
        /// rule. The default is 1.
        public var minimumReporters: Int

        /// Whether the circuit refuses calls.
        ///
        /// The default is ``CircuitMode/enforcing``.
        public var mode: CircuitMode

        /// Creates a configuration from all its parts.
        public init(
            name: String, group: String? = nil, trip: TripRule = .failures(5, within: .seconds(60)),
            slow: SlowCallRule? = nil, recovery: RecoveryRule = RecoveryRule(), probes: ProbeRule = ProbeRule(),
            minimumReporters: Int = 1, mode: CircuitMode = .enforcing
        ) {
            self.name = name
            self.group = group
            self.trip = trip
            self.boxedSlow = slow.map { .value($0) }
            self.recovery = recovery
            self.probes = probes
            self.minimumReporters = minimumReporters
            self.mode = mode
        }

        /// Creates a configuration that trips at `maxFailures` within `rollingWindow` and stays open for
        /// `recoveryTimeout`.
        ///
        /// All else is the default, except the recovery's cap, which is raised to the timeout when the timeout is
        /// longer.
        public init(
            name: String, group: String? = nil, recoveryTimeout: Duration, maxFailures: Int, rollingWindow: Duration
        ) {
            self.init(
                name: name, group: group, trip: .failures(maxFailures, within: rollingWindow),
                recovery: RecoveryRule(timeout: recoveryTimeout, cap: max(RecoveryRule().cap, recoveryTimeout)))
        }

        /// Without rows of failures, only so many workers with bad calls are known.
        private static let maxReportersOfRates = 16

        func validate() throws(BreakerStoreError) {
            try Validation.text(self.name, "name")
            if let group = self.group { try Validation.text(group, "group") }
            try self.trip.validate()
            try self.slow?.validate()
            try self.recovery.validate()
            try self.probes.validate()
            try Validation.count(self.minimumReporters, in: 1...10_000, "minimumReporters")
            if self.slow != nil || self.trip.share != nil, self.minimumReporters > Self.maxReportersOfRates {
                throw Validation.error(
                    "minimumReporters", "\(self.minimumReporters)",
                    allowed: "1 to \(Self.maxReportersOfRates) with a rule that counts shares of calls")
            }
        }
    }
}

extension CircuitBreaker.Config {
    private enum CodingKeys: String, CodingKey {
        case name, group, trip, slow, recovery, probes, minimumReporters, mode
    }

    /// Reads a configuration; every value but the name may be missing, and then has its default.
    ///
    /// Throws a `DecodingError` when the name is missing, a value is of another type, or the trip rule is unknown to
    /// this version.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(name: try container.decode(String.self, forKey: .name))
        self.group = try container.decodeIfPresent(String.self, forKey: .group)
        self.trip = try container.decodeIfPresent(TripRule.self, forKey: .trip) ?? self.trip
        self.slow = try container.decodeIfPresent(SlowCallRule.self, forKey: .slow)
        self.recovery = try container.decodeIfPresent(RecoveryRule.self, forKey: .recovery) ?? self.recovery
        self.probes = try container.decodeIfPresent(ProbeRule.self, forKey: .probes) ?? self.probes
        self.minimumReporters =
            try container.decodeIfPresent(Int.self, forKey: .minimumReporters) ?? self.minimumReporters
        self.mode = try container.decodeIfPresent(CircuitMode.self, forKey: .mode) ?? self.mode
    }

    /// Writes the configuration, with durations in whole microseconds; omits nil values and the mode `enforcing`.
    ///
    /// Throws `EncodingError.invalidValue` when a duration is too long for microseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.name, forKey: .name)
        try container.encodeIfPresent(self.group, forKey: .group)
        try container.encode(self.trip, forKey: .trip)
        try container.encodeIfPresent(self.slow, forKey: .slow)
        try container.encode(self.recovery, forKey: .recovery)
        try container.encode(self.probes, forKey: .probes)
        try container.encode(self.minimumReporters, forKey: .minimumReporters)
        if self.mode != .enforcing { try container.encode(self.mode, forKey: .mode) }
    }
}

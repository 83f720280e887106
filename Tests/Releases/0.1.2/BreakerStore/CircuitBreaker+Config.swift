extension CircuitBreaker {
    /// What all processes share about a circuit.
    ///
    /// It is stored with the circuit; the newest registration rules, for every live handle. It is validated when it is
    /// registered.
    public struct Config: Sendable, Hashable, Codable {
        /// The circuit's identity: 1 to 200 characters (Unicode scalars), no control characters.
        public var name: String

        /// A label to list by, with the limits of `name`.
        ///
        /// The default is nil.
        public var group: String?

        /// When the circuit trips.
        ///
        /// The default is 5 failures within 60 s.
        public var trip: TripRule

        /// How long it then stays open.
        ///
        /// The default is 30 s after each trip.
        public var recovery: RecoveryRule

        /// How it tries whether its service is back.
        ///
        /// The default is one probe at a time, one success, a lease of 30 s.
        public var probes: ProbeRule

        /// Trip only when so many different workers saw failures: 1 to 10,000.
        ///
        /// The default is 1.
        public var minimumReporters: Int

        /// Creates a configuration of all its parts.
        public init(
            name: String, group: String? = nil, trip: TripRule = .failures(5, within: .seconds(60)),
            recovery: RecoveryRule = RecoveryRule(), probes: ProbeRule = ProbeRule(), minimumReporters: Int = 1
        ) {
            self.name = name
            self.group = group
            self.trip = trip
            self.recovery = recovery
            self.probes = probes
            self.minimumReporters = minimumReporters
        }

        /// Creates a configuration that trips at `maxFailures` within `rollingWindow` and stays open for
        /// `recoveryTimeout`.
        ///
        /// All else is the default, but for the recovery's cap, which is raised to the timeout when that is longer.
        public init(
            name: String, group: String? = nil, recoveryTimeout: Duration, maxFailures: Int, rollingWindow: Duration
        ) {
            self.init(
                name: name, group: group, trip: .failures(maxFailures, within: rollingWindow),
                recovery: RecoveryRule(timeout: recoveryTimeout, cap: max(RecoveryRule().cap, recoveryTimeout)))
        }

        func validate() throws(BreakerStoreError) {
            try Validation.text(self.name, "name")
            if let group = self.group { try Validation.text(group, "group") }
            try self.trip.validate()
            try self.recovery.validate()
            try self.probes.validate()
            try Validation.count(self.minimumReporters, in: 1...10_000, "minimumReporters")
        }
    }
}

extension CircuitBreaker.Config {
    private enum CodingKeys: String, CodingKey {
        case name, group, trip, recovery, probes, minimumReporters
    }

    /// Reads a configuration; all but the name may be missing and is then its default.
    ///
    /// Throws a `DecodingError` when the name is missing, a value is of another type, or the trip rule is unknown to
    /// this version.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(name: try container.decode(String.self, forKey: .name))
        self.group = try container.decodeIfPresent(String.self, forKey: .group)
        self.trip = try container.decodeIfPresent(TripRule.self, forKey: .trip) ?? self.trip
        self.recovery = try container.decodeIfPresent(RecoveryRule.self, forKey: .recovery) ?? self.recovery
        self.probes = try container.decodeIfPresent(ProbeRule.self, forKey: .probes) ?? self.probes
        self.minimumReporters =
            try container.decodeIfPresent(Int.self, forKey: .minimumReporters) ?? self.minimumReporters
    }

    /// Writes the configuration, durations as whole microseconds, no group when there is none.
    ///
    /// Throws `EncodingError.invalidValue` when a duration overflows them.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.name, forKey: .name)
        try container.encodeIfPresent(self.group, forKey: .group)
        try container.encode(self.trip, forKey: .trip)
        try container.encode(self.recovery, forKey: .recovery)
        try container.encode(self.probes, forKey: .probes)
        try container.encode(self.minimumReporters, forKey: .minimumReporters)
    }
}

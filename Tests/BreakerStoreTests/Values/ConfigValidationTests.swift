import Testing

@testable import BreakerStore

/// One change of an otherwise valid value, and the field that the error must name; nil when the change is allowed.
struct FieldCase<Value: Sendable>: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let refused: String?
    let change: @Sendable (inout Value) -> Void

    init(_ what: String, refused field: String? = nil, _ change: @escaping @Sendable (inout Value) -> Void) {
        self.testDescription = what
        self.refused = field
        self.change = change
    }

    func check(
        _ valid: Value, location: SourceLocation = #_sourceLocation,
        validate: (Value) throws(BreakerStoreError) -> Void
    ) {
        var value = valid
        self.change(&value)
        do throws(BreakerStoreError) {
            try validate(value)
            #expect(self.refused == nil, "must be refused", sourceLocation: location)
        } catch {
            #expect(error.code == .invalidConfiguration, sourceLocation: location)
            let field = self.refused ?? "(nothing refused)"
            #expect(error.message.hasPrefix("\(field) is "), "\(error.message)", sourceLocation: location)
            #expect(error.message.contains("; allowed: "), "\(error.message)", sourceLocation: location)
        }
    }
}

@Suite struct ConfigValidationTests {
    typealias Case = FieldCase<CircuitBreaker.Config>

    static let tooLong = Duration.longestAllowed + .microseconds(1)
    static let overflowing = Duration(attoseconds: .max)

    static let shares: [Case] = [
        Case("all of one call") { $0.trip = .failureRate(1, minimumCalls: 1, within: .milliseconds(1)) },
        Case("share of 0", refused: "trip.share") { $0.trip = .failureRate(0, minimumCalls: 1, within: .seconds(1)) },
        Case("share of 1.1", refused: "trip.share") {
            $0.trip = .failureRate(1.1, minimumCalls: 1, within: .seconds(1))
        },
        Case("no number", refused: "trip.share") { $0.trip = .failureRate(.nan, minimumCalls: 1, within: .seconds(1)) },
        Case("0 calls", refused: "trip.minimumCalls") {
            $0.trip = .failureRate(1, minimumCalls: 0, within: .seconds(1))
        },
        Case("short window", refused: "trip.window") {
            $0.trip = .failureRate(1, minimumCalls: 1, within: .microseconds(999))
        },
        Case("slow") { $0.slow = SlowCallRule(longerThan: .microseconds(1)) },
        Case("threshold of 0", refused: "slow.threshold") { $0.slow = SlowCallRule(longerThan: .zero) },
        Case("slow share", refused: "slow.share") { $0.slow = SlowCallRule(longerThan: .seconds(1), share: -1) },
        Case("slow calls", refused: "slow.minimumCalls") {
            $0.slow = SlowCallRule(longerThan: .seconds(1), minimumCalls: 1_000_001)
        },
        Case("slow window", refused: "slow.window") { $0.slow = SlowCallRule(longerThan: .seconds(1), within: .zero) },
        Case("17 reporters of failures") { $0.minimumReporters = 17 },
        Case("16 reporters of slow calls") {
            $0.slow = SlowCallRule(longerThan: .seconds(1))
            $0.minimumReporters = 16
        },
        Case("17 reporters of slow calls", refused: "minimumReporters") {
            $0.slow = SlowCallRule(longerThan: .seconds(1))
            $0.minimumReporters = 17
        },
        Case("17 reporters of a share", refused: "minimumReporters") {
            $0.trip = .failureRate(1, minimumCalls: 1, within: .seconds(1))
            $0.minimumReporters = 17
        },
    ]

    static let texts: [Case] = [
        Case("name of 1") { $0.name = "a" },
        Case("name of 200") { $0.name = String(repeating: "é", count: 200) },
        Case("name with blanks and quotes") { $0.name = "a 'b' \"c\" / *" },
        Case("empty name", refused: "name") { $0.name = "" },
        Case("name of 201", refused: "name") { $0.name = String(repeating: "a", count: 201) },
        Case("name with NUL", refused: "name") { $0.name = "a\0b" },
        Case("name with line feed", refused: "name") { $0.name = "a\nb" },
        Case("name with CRLF", refused: "name") { $0.name = "a\r\n" },
        Case("name with DEL", refused: "name") { $0.name = "a\u{7F}" },
        Case("name with C1", refused: "name") { $0.name = "a\u{9B}" },
        Case("name with line separator", refused: "name") { $0.name = "a\u{2028}" },
        Case("name with paragraph separator", refused: "name") { $0.name = "a\u{2029}" },
        Case("one character of many scalars", refused: "name") {
            $0.name = "a" + String(repeating: "\u{301}", count: 200)
        },
        Case("no group") { $0.group = nil },
        Case("group of 200") { $0.group = String(repeating: "g", count: 200) },
        Case("empty group", refused: "group") { $0.group = "" },
        Case("group of 201", refused: "group") { $0.group = String(repeating: "g", count: 201) },
        Case("group with tab", refused: "group") { $0.group = "a\tb" },
    ]

    static let counts: [Case] = [
        Case("1 failure") { $0.trip = .failures(1, within: .seconds(1)) },
        Case("1,000,000 failures") { $0.trip = .failures(1_000_000, within: .seconds(1)) },
        Case("0 failures", refused: "trip.count") { $0.trip = .failures(0, within: .seconds(1)) },
        Case("too many failures", refused: "trip.count") { $0.trip = .failures(1_000_001, within: .seconds(1)) },
        Case("1 in a row") { $0.trip = .consecutiveFailures(1) },
        Case("1,000,000 in a row") { $0.trip = .consecutiveFailures(1_000_000) },
        Case("0 in a row", refused: "trip.count") { $0.trip = .consecutiveFailures(0) },
        Case("too many in a row", refused: "trip.count") { $0.trip = .consecutiveFailures(1_000_001) },
        Case("10,000 probes") { $0.probes.limit = 10_000 },
        Case("0 probes", refused: "probes.limit") { $0.probes.limit = 0 },
        Case("10,001 probes", refused: "probes.limit") { $0.probes.limit = 10_001 },
        Case("10,000 successes") { $0.probes.successesToClose = 10_000 },
        Case("0 successes", refused: "probes.successesToClose") { $0.probes.successesToClose = 0 },
        Case("10,001 successes", refused: "probes.successesToClose") { $0.probes.successesToClose = 10_001 },
        Case("a growth of 10,000") { $0.probes.growth = 10_000 },
        Case("a growth of 0", refused: "probes.growth") { $0.probes.growth = 0 },
        Case("a growth of -1", refused: "probes.growth") { $0.probes.growth = -1 },
        Case("a growth of 10,001", refused: "probes.growth") { $0.probes.growth = 10_001 },
        Case("nearly all may fail") { $0.probes.toleratedShare = 1.0.nextDown },
        Case("all may fail", refused: "probes.toleratedShare") { $0.probes.toleratedShare = 1 },
        Case("less than none", refused: "probes.toleratedShare") { $0.probes.toleratedShare = -0.1 },
        Case("NaN may fail", refused: "probes.toleratedShare") { $0.probes.toleratedShare = .nan },
        Case("endlessly many", refused: "probes.toleratedShare") { $0.probes.toleratedShare = .infinity },
        Case("10,000 reporters") { $0.minimumReporters = 10_000 },
        Case("0 reporters", refused: "minimumReporters") { $0.minimumReporters = 0 },
        Case("10,001 reporters", refused: "minimumReporters") { $0.minimumReporters = 10_001 },
    ]

    static let durations: [Case] = [
        ("trip.window", { @Sendable config, duration in config.trip = .failures(5, within: duration) }),
        ("recovery.timeout", { @Sendable config, duration in config.recovery.timeout = duration }),
        ("recovery.cap", { @Sendable config, duration in config.recovery.cap = duration }),
        ("probes.lease", { @Sendable config, duration in config.probes.lease = duration }),
    ].flatMap { (field: String, set: @escaping @Sendable (inout CircuitBreaker.Config, Duration) -> Void) in
        [
            Case("\(field) of 1 µs") { set(&$0, .microseconds(1)) },
            Case("longest \(field)") { set(&$0, .longestAllowed) },
            Case("\(field) of 0", refused: field) { set(&$0, .zero) },
            Case("\(field) that rounds to 0", refused: field) { set(&$0, .nanoseconds(499)) },
            Case("negative \(field)", refused: field) { set(&$0, .seconds(-1)) },
            Case("\(field) too long", refused: field) { set(&$0, Self.tooLong) },
            Case("overflowing \(field)", refused: field) { set(&$0, Self.overflowing) },
        ]
    }

    static let numbers: [Case] = [
        Case("multiplier 1,000") { $0.recovery.multiplier = 1_000 },
        Case("multiplier below 1", refused: "recovery.multiplier") { $0.recovery.multiplier = 0.999 },
        Case("multiplier above 1,000", refused: "recovery.multiplier") { $0.recovery.multiplier = 1_000.1 },
        Case("multiplier NaN", refused: "recovery.multiplier") { $0.recovery.multiplier = .nan },
        Case("multiplier infinite", refused: "recovery.multiplier") { $0.recovery.multiplier = .infinity },
        Case("cap below the timeout") { $0.recovery.cap = .seconds(1) },
        Case("jitter 1") { $0.recovery.jitter = 1 },
        Case("jitter negative", refused: "recovery.jitter") { $0.recovery.jitter = -0.01 },
        Case("jitter above 1", refused: "recovery.jitter") { $0.recovery.jitter = 1.01 },
        Case("jitter NaN", refused: "recovery.jitter") { $0.recovery.jitter = .nan },
    ]

    @Test(arguments: Self.texts + Self.shares + Self.counts + Self.durations + Self.numbers)
    func namesTheField(field: Case) {
        field.check(CircuitBreaker.Config(name: "a", group: "g")) { value throws(BreakerStoreError) in
            try value.validate()
        }
    }

    @Test(arguments: [
        (CircuitBreaker.Config(name: ""), "name is empty; allowed: 1 to 200 characters, no control characters"),
        (
            CircuitBreaker.Config(name: "a\u{1B}[31m"),
            #"name is 'a\u{1B}[31m', with a control character; allowed: 1 to 200 characters, no control characters"#
        ),
        (CircuitBreaker.Config(name: "a", minimumReporters: 0), "minimumReporters is 0; allowed: 1 to 10000"),
        (
            CircuitBreaker.Config(name: "a", recovery: RecoveryRule(jitter: 2)),
            "recovery.jitter is 2.0; allowed: 0.0 to 1.0"
        ),
        (
            CircuitBreaker.Config(name: "a", recovery: RecoveryRule(timeout: .seconds(-1))),
            "recovery.timeout is -1 s; allowed: above 0, at most a hundred years"
        ),
    ])
    func saysWhatIsAllowed(config: CircuitBreaker.Config, message: String) {
        let error = #expect(throws: BreakerStoreError.self) { try config.validate() }
        #expect(error?.message == message)
    }
}

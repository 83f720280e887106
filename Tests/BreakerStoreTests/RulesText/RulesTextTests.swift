import Testing

@testable import BreakerStore

@Suite struct RulesTextTests {
    private static let defaults = Rules(CircuitBreaker.Config(name: "-", trip: .consecutiveFailures(7)))

    private static func with(_ change: (inout Rules) -> Void) -> Rules {
        var rules = Self.defaults
        change(&rules)
        return rules
    }

    static let trip = #""trip":{"count":7,"rule":"consecutiveFailures"}"#

    static let understood: [(String, Rules, [String])] = [
        ("{\(Self.trip)}", Self.defaults, []),
        (" {\n\t\(Self.trip) , \"recovery\" : { } , \"probes\":{}}\r\n", Self.defaults, []),
        (#"{"tr\u0069p":{"rule":"\u0063onsecutiveFailures","c\u006funt":7}}"#, Self.defaults, []),
        (
            "{\"minimumReporters\":9,\(Self.trip)}",
            Self.with { $0.minimumReporters = 9 }, []
        ),
        (
            #"{"trip":{"windowMicroseconds":1,"rule":"failures","count":1000000}}"#,
            Self.with { $0.trip = .failures(1_000_000, within: .microseconds(1)) }, []
        ),
        (
            #"{"trip":{"share":1,"rule":"failureRate","minimumCalls":1,"windowMicroseconds":1000}}"#,
            Self.with { $0.trip = .failureRate(1, minimumCalls: 1, within: .milliseconds(1)) }, []
        ),
        (
            "{\"slow\":{\"thresholdMicroseconds\":2000000},\(Self.trip)}",
            Self.with { $0.slow = SlowCallRule(longerThan: .seconds(2)) }, []
        ),
        (
            "{\"slow\":{\"thresholdMicroseconds\":1,\"share\":2.5e-1,\"minimumCalls\":9,\"windowMicroseconds\":5000},"
                + "\(Self.trip)}",
            Self.with {
                $0.slow = SlowCallRule(
                    longerThan: .microseconds(1), share: 0.25, minimumCalls: 9, within: .milliseconds(5))
            }, []
        ),
        (
            "{\"recovery\":{\"multiplier\":1000,\"jitter\":0.0,\"capMicroseconds\":3200000000000000},\(Self.trip)}",
            Self.with {
                $0.recovery.multiplier = 1_000
                $0.recovery.cap = .seconds(3_200_000_000)
            }, []
        ),
        (
            "{\"probes\":{\"limit\":10000,\"successesToClose\":2,\"leaseMicroseconds\":5},\(Self.trip)}",
            Self.with { $0.probes = ProbeRule(limit: 10_000, successesToClose: 2, lease: .microseconds(5)) }, []
        ),
        (
            "{\"probes\":{\"toleratedShare\":5e-2,\"growth\":3},\(Self.trip)}",
            Self.with { $0.probes = ProbeRule(growth: 3, toleratedShare: 0.05) }, []
        ),
        ("{\"probes\":{\"toleratedShare\":0.0,\"growth\":1},\(Self.trip)}", Self.defaults, []),
        // What belongs to another rule of this release is ignored, whatever it is.
        (
            #"{"trip":{"rule":"consecutiveFailures","count":7,"share":"no","minimumCalls":[],"#
                + #""windowMicroseconds":-1}}"#,
            Self.defaults, []
        ),
        // What this release does not know is listed.
        (
            #"{"limits":{"!calls":10},"trip":{"rule":"consecutiveFailures","count":7,"phase":"full"},"#
                + #""recovery":{"growth":[2]},"probes":{"":null},"name":"a"}"#,
            Self.defaults, ["limits", "name", "probes.", "recovery.growth", "trip.phase"]
        ),
        (
            #"{"trip":{"rule":"consecutiveFailures","count":7,"z":0},"recovery":{"y":1},"probes":{"x":2}}"#,
            Self.defaults, ["probes.x", "recovery.y", "trip.z"]
        ),
        // Keys are bytes: Swift's strings have the K of Kelvin for a K.
        ("{\"\u{E9}\":1,\"e\u{301}\":2,\(Self.trip)}", Self.defaults, ["e\u{301}", "\u{E9}"]),
    ]

    @Test(arguments: Self.understood) func understands(text: String, rules: Rules, unknown: [String]) {
        #expect(RulesText.decode(text) == .understood(rules, unknown: unknown))
        #expect(RulesText.unknownMembers(of: Array(text.utf8)).map(\.utf8.hex) == unknown.map(\.utf8.hex))
    }

    static let ofLaterRelease: [(String, String)] = [
        ("{\"!quorum\":2,\(Self.trip)}", "the member '!quorum'"),
        ("{\"\\u0021\":null,\(Self.trip)}", "the member '!'"),
        (#"{"trip":{"rule":"failures","count":0,"!per":1}}"#, "the member 'trip.!per'"),
        ("{\"!b\":0,\"c\":1,\"!a\":2,\(Self.trip)}", "the member '!b'"),
        (#"{"trip":7,"recovery":{"!a\nb":1}}"#, #"the member 'recovery.!a\u{A}b'"#),
        ("{\"slow\":{\"!of\":1},\(Self.trip)}", "the member 'slow.!of'"),
        ("{\"probes\":{\"!of\":1},\(Self.trip)}", "the member 'probes.!of'"),
        (#"{"trip":{"rule":"moonPhase","count":"full"},"slow":3}"#, "the trip rule 'moonPhase'"),
        (#"{"trip":{"rule":""}}"#, "the trip rule ''"),
        (#"{"trip":{"rule":"Failures"}}"#, "the trip rule 'Failures'"),
    ]

    @Test(arguments: Self.ofLaterRelease) func leavesToLaterReleases(text: String, what: String) {
        #expect(RulesText.decode(text) == .ofLaterRelease(what: what))
    }

    static let unreadable: [(String, String)] = [
        ("", "the text ends; expected a value at byte 0"),
        ("{\(Self.trip),}", "expected a key in quotation marks at byte 49"),
        ("{\(Self.trip),\(Self.trip)}", "the key 'trip' stands a second time in its object at byte 49"),
        ("[]", "the rules are a list; expected an object"),
        ("null", "the rules are null; expected an object"),
        ("{}", "trip is missing"),
        (#"{"trip":null}"#, "trip is null; expected an object"),
        (#"{"trip":{}}"#, "trip.rule is missing"),
        (#"{"trip":{"rule":5}}"#, "trip.rule is 5; expected a text"),
        (#"{"trip":{"rule":"failures","windowMicroseconds":1}}"#, "trip.count is missing"),
        (#"{"trip":{"rule":"failures","count":1}}"#, "trip.windowMicroseconds is missing"),
        (#"{"trip":{"rule":"consecutiveFailures","count":"7"}}"#, Self.noInteger("trip.count", "a text")),
        (#"{"trip":{"rule":"consecutiveFailures","count":7.0}}"#, Self.noInteger("trip.count", "7.0")),
        (#"{"trip":{"rule":"consecutiveFailures","count":7e0}}"#, Self.noInteger("trip.count", "7e0")),
        (#"{"trip":{"rule":"consecutiveFailures","count":true}}"#, Self.noInteger("trip.count", "true")),
        (
            #"{"trip":{"rule":"consecutiveFailures","count":9223372036854775808}}"#,
            Self.noInteger("trip.count", "9223372036854775808")
        ),
        (
            #"{"trip":{"rule":"consecutiveFailures","count":1\#(String(repeating: "0", count: 99))}}"#,
            Self.noInteger("trip.count", "a number of 100 digits")
        ),
        (#"{"trip":{"rule":"consecutiveFailures","count":0}}"#, "trip.count is 0; allowed: 1 to 1000000"),
        (#"{"trip":{"rule":"consecutiveFailures","count":-0}}"#, "trip.count is 0; allowed: 1 to 1000000"),
        (#"{"trip":{"rule":"consecutiveFailures","count":1000001}}"#, "trip.count is 1000001; allowed: 1 to 1000000"),
        (
            #"{"trip":{"rule":"failures","count":1,"windowMicroseconds":0}}"#,
            "trip.window is 0 s; allowed: above 0, at most a hundred years"
        ),
        (
            #"{"trip":{"rule":"failureRate","minimumCalls":1,"windowMicroseconds":1000,"share":1e999}}"#,
            "trip.share is inf; allowed: above 0, at most 1"
        ),
        (
            #"{"trip":{"rule":"failureRate","minimumCalls":1,"windowMicroseconds":1000,"share":"half"}}"#,
            "trip.share is a text; expected a number"
        ),
        ("{\"slow\":null,\(Self.trip)}", "slow is null; expected an object"),
        ("{\"slow\":{},\(Self.trip)}", "slow.thresholdMicroseconds is missing"),
        ("{\"recovery\":[],\(Self.trip)}", "recovery is a list; expected an object"),
        ("{\"recovery\":{\"jitter\":1.5},\(Self.trip)}", "recovery.jitter is 1.5; allowed: 0.0 to 1.0"),
        ("{\"probes\":{\"limit\":{}},\(Self.trip)}", Self.noInteger("probes.limit", "an object")),
        ("{\"probes\":{\"growth\":1.5},\(Self.trip)}", Self.noInteger("probes.growth", "1.5")),
        ("{\"probes\":{\"growth\":0},\(Self.trip)}", "probes.growth is 0; allowed: 1 to 10000"),
        (
            "{\"probes\":{\"toleratedShare\":1},\(Self.trip)}",
            "probes.toleratedShare is 1.0; allowed: 0 or more, below 1"
        ),
        ("{\"minimumReporters\":10001,\(Self.trip)}", "minimumReporters is 10001; allowed: 1 to 10000"),
        (
            "{\"minimumReporters\":17,\"slow\":{\"thresholdMicroseconds\":1},\(Self.trip)}",
            "minimumReporters is 17; allowed: 1 to 16 with a rule that counts shares of calls"
        ),
    ]

    private static func noInteger(_ path: String, _ found: String) -> String {
        "\(path) is \(found); expected a whole number of at most 64 bits, without fraction and exponent"
    }

    @Test(arguments: Self.unreadable) func saysWhyATextIsUnreadable(text: String, why: String) {
        #expect(RulesText.decode(text) == .unreadable(why: why))
    }

    @Test func refusesBytesThatAreNotUTF8() {
        let text = Array(#"{"a":""#.utf8) + [0xC3] + Array("\",\(Self.trip)}".utf8)
        #expect(RulesText.decode(text) == .unreadable(why: "bytes that are not UTF-8 at byte 6"))
    }

    // MARK: - Writing

    @Test func writesSortedKeysAndNoSpaces() {
        #expect(
            RulesText.encode(Self.with { $0.slow = SlowCallRule(longerThan: .milliseconds(1)) })
                == #"{"minimumReporters":1,"probes":{"leaseMicroseconds":30000000,"limit":1,"successesToClose":1},"#
                + #""recovery":{"capMicroseconds":600000000,"jitter":0,"multiplier":1,"timeoutMicroseconds":30000000},"#
                + #""slow":{"minimumCalls":20,"share":0.5,"thresholdMicroseconds":1000,"windowMicroseconds":60000000},"#
                + #""trip":{"count":7,"rule":"consecutiveFailures"}}"#)
    }

    /// Random rules are read back as themselves, and as the public types write and read them.
    @Test func writesWhatThePublicTypesWrite() throws {
        var random = SplitMix64(seed: 52)
        for _ in 0..<2_000 {
            let rules = random.rules()
            let text = RulesText.encode(rules)
            #expect(RulesText.decode(text) == .understood(rules, unknown: []))
            #expect(text.utf8.allSatisfy { $0 < 0x80 } && text.utf8.count < 1_000)
            let config = CircuitBreaker.Config(
                name: "-", trip: rules.trip, slow: rules.slow, recovery: rules.recovery, probes: rules.probes,
                minimumReporters: rules.minimumReporters)
            let named = text.replacing(#","probes":"#, with: #","name":"-","probes":"#)
            #expect(try JSON.text(config) == named)
            #expect(try JSON.value(CircuitBreaker.Config.self, named) == config)
        }
    }
}

extension RulesText {
    static func decode(_ text: String) -> Decoded { Self.decode(Array(text.utf8)) }
}

import Testing

@testable import BreakerStore

/// Members that a later release has written, and this one keeps.
@Suite struct UnknownMembersTests {
    private static let rules = Rules(CircuitBreaker.Config(name: "-", trip: .consecutiveFailures(7)))
    private static let slow = Rules(
        CircuitBreaker.Config(
            name: "-", trip: .failures(2, within: .seconds(1)), slow: SlowCallRule(longerThan: .seconds(1))))

    private static let probes = #"{"leaseMicroseconds":30000000,"limit":1,"successesToClose":1}"#
    private static let recovery =
        #"{"capMicroseconds":600000000,"jitter":0,"multiplier":1,"timeoutMicroseconds":30000000}"#

    static let merges: [(String, String)] = [
        // No object: nothing is kept.
        ("", ""), ("{\"a\":1", ""), ("[1]", ""), (#"{"a":1,"a":2}"#, ""), ("{}", ""),
        // Byte for byte, in the order of the keys' bytes.
        (#"{"zeta":1.50,"!a":[ 1 ,2 ],"m":{"b":1,"a":2}}"#, #"!a:[ 1 ,2 ]|m:{"b":1,"a":2}|zeta:1.50"#),
        (#"{ "a" : "\u00e9\/" , "B":1 }"#, #"B:1|a:"\u00e9\/""#),
        // Another program may have escaped a key that this release knows.
        (#"{"pr\u006fbes":{"limit":9},"tr\u0069p":5,"slow":false}"#, ""),
    ]

    @Test(arguments: Self.merges) func keepsThemByteForByte(old: String, kept: String) throws {
        let text = RulesText.encode(Self.rules, over: Array(old.utf8))
        let paths = RulesText.unknownMembers(of: Array(text.utf8))
        let members = try JSONScanner.value(of: Array(text.utf8)).members ?? []
        let unknown = members.filter { paths.contains($0.name) }
        #expect(
            unknown.map { "\($0.name):\(String(decoding: $0.value.text, as: UTF8.self))" }.joined(separator: "|")
                == kept)
        #expect(kept.isEmpty == (text == RulesText.encode(Self.rules)))
    }

    @Test func writesKnownAndUnknownMembersInOrder() {
        let old = #"""
            { "~": [ ], "Limit" : {"trip": 1}, "trip": {"rule":"failureRate", "share":0.5, "phase":1e0, "a\u0062":0},
              "slow": {"x":1}, "probes": {"grow":2, "growth":3, "lim":3, "limit":4}, "recovery": {"z":"\ud83d\ude00"},
              "minimumReporters": 5 }
            """#
        #expect(
            RulesText.encode(Self.rules, over: Array(old.utf8))
                == #"{"Limit":{"trip": 1},"minimumReporters":1,"#
                + #""probes":{"grow":2,"leaseMicroseconds":30000000,"lim":3,"limit":1,"successesToClose":1},"#
                + #""recovery":{"capMicroseconds":600000000,"jitter":0,"multiplier":1,"timeoutMicroseconds":30000000,"#
                + #""z":"\ud83d\ude00"},"trip":{"a\u0062":0,"count":7,"phase":1e0,"rule":"consecutiveFailures"},"~":[ ]}"#
        )
    }

    /// The members of `slow` go with the rule, and stay with it.
    @Test func thoseOfTheSlowRuleGoWithIt() {
        let old = Array(#"{"slow":{"thresholdMicroseconds":5,"unit":"ms"},"trip":{}}"#.utf8)
        #expect(RulesText.encode(Self.rules, over: old) == RulesText.encode(Self.rules))
        let text = RulesText.encode(Self.slow, over: old)
        #expect(RulesText.decode(text) == .understood(Self.slow, unknown: ["slow.unit"]))
    }

    /// What a later release demands to be understood is not lost by a registration of this one.
    @Test func whatMustBeUnderstoodStays() {
        let old = Array(#"{"!quorum":2,"trip":{"rule":"moonPhase","phase":3}}"#.utf8)
        let text = RulesText.encode(Self.rules, over: old)
        #expect(RulesText.decode(text) == .ofLaterRelease(what: "the member '!quorum'"))
        #expect(RulesText.unknownMembers(of: Array(text.utf8)) == ["!quorum", "trip.phase"])
        // Another rule's word is replaced with the rule.
        let word = Array(#"{"trip":{"rule":"moonPhase","phase":3}}"#.utf8)
        #expect(
            RulesText.decode(RulesText.encode(Self.rules, over: word))
                == .understood(Self.rules, unknown: ["trip.phase"]))
    }

    /// With as many bytes as can be read they stay, with one more they go.
    @Test func theyGoWhereTheTextWouldBeTooLong() {
        let known = RulesText.encode(Self.rules)
        let room = 4_096 - known.utf8.count - #""a":"","#.utf8.count
        for (count, isKept) in [(room, true), (room + 1, false)] {
            let old = Array(#"{"a":"\#(String(repeating: "x", count: count))"}"#.utf8)
            let text = RulesText.encode(Self.rules, over: old)
            #expect(text.utf8.count == (isKept ? 4_096 : known.utf8.count))
            #expect(RulesText.decode(text) == .understood(Self.rules, unknown: isKept ? ["a"] : []))
        }
    }

    /// The same rules in different texts are equal, also after a merge.
    @Test func rulesAreComparedByValue() {
        let texts = [
            #"{"trip":{"count":7,"rule":"consecutiveFailures"},"minimumReporters":1}"#,
            #"{ "minimumReporters" : 1, "recovery" : {"jitter":0.0,"multiplier":1e0}, "#
                + #""trip" : { "rule":"consecutive\u0046ailures" , "count" : 7 } }"#,
            #"{"trip":{"rule":"consecutiveFailures","count":7,"share":1},"probes":\#(Self.probes),"#
                + #""recovery":\#(Self.recovery)}"#,
        ]
        for text in texts {
            #expect(RulesText.decode(text) == .understood(Self.rules, unknown: []))
            #expect(RulesText.encode(Self.rules, over: Array(text.utf8)) == RulesText.encode(Self.rules))
        }
    }
}

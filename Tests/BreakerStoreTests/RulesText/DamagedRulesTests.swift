import Testing

@testable import BreakerStore

/// Texts that are damaged, or made up by an enemy: an error or rules within bounds, never a trap.
@Suite(.timeLimit(.minutes(10))) struct DamagedRulesTests {
    private static let text = Array(
        (#"{"a":"\u00e9é\ud83d\ude00","minimumReporters":1,"probes":{"limit":1},"recovery":{"jitter":0.5e-1},"#
            + #""slow":{"thresholdMicroseconds":5},"trip":{"count":7,"rule":"failures","windowMicroseconds":90}}"#).utf8
    )

    @Test func everyPrefix() {
        #expect(Self.isUnderstood(Self.text))
        for count in 0..<Self.text.count {
            #expect(!Self.isUnderstood(Array(Self.text.prefix(count))), "\(count) bytes")
        }
    }

    @Test func everyChangeOfOneByte() {
        var understood = 0
        for place in Self.text.indices {
            var text = Self.text
            for byte in UInt8.min ... .max where byte != Self.text[place] {
                text[place] = byte
                if Self.isUnderstood(text) { understood += 1 }
            }
        }
        // Other digits, and other keys of members that may be missing.
        #expect(understood > 100)
    }

    @Test func texts() {
        let many = "{" + (0..<400).map { "\"\($0)\":0," }.joined() + RulesTextTests.trip + "}"
        #expect(Self.isUnderstood(Array(many.utf8)))
        for byte in UInt8.min ... .max {
            for count in [1, 2, 4_096, 4_097, 1_000_000] {
                #expect(!Self.isUnderstood([UInt8](repeating: byte, count: count)))
                #expect(!Self.isUnderstood(Array("{\"trip\":".utf8) + [UInt8](repeating: byte, count: count)))
            }
        }
    }

    /// Whether a text gives rules, which then must be valid and stay themselves.
    private static func isUnderstood(_ text: [UInt8]) -> Bool {
        let unknown = RulesText.unknownMembers(of: text)
        switch RulesText.decode(text) {
        case .understood(let rules, let listed):
            #expect(throws: Never.self) { try rules.validate() }
            #expect(listed == unknown)
            let merged = RulesText.encode(rules, over: text)
            #expect(RulesText.decode(merged) == .understood(rules, unknown: unknown), "\(text.hex)")
            return true
        case .ofLaterRelease(let what):
            #expect(!what.isEmpty && what.utf8.count < 4_096)
            return false
        case .unreadable(let why):
            #expect(!why.isEmpty && why.utf8.count < 4_096)
            return false
        }
    }
}

extension Rules {
    /// What is allowed, as at a registration.
    fileprivate func validate() throws(BreakerStoreError) {
        try CircuitBreaker.Config(
            name: "-", trip: self.trip, slow: self.slow, recovery: self.recovery, probes: self.probes,
            minimumReporters: self.minimumReporters
        ).validate()
    }
}

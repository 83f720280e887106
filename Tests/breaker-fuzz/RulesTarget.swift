@testable import BreakerStore

/// The text of a circuit's rules.
struct RulesTarget: Target {
    private static let rules = Rules(CircuitBreaker.Config(name: "-", trip: .consecutiveFailures(7)))
    private static let slow = Rules(
        CircuitBreaker.Config(
            name: "-", trip: .failureRate(0.1, minimumCalls: 3, within: .seconds(9)),
            slow: SlowCallRule(longerThan: .milliseconds(5))))

    func feed(_ bytes: [UInt8]) throws {
        let unknown = RulesText.unknownMembers(of: bytes)
        switch RulesText.decode(bytes) {
        case .understood(let rules, let listed):
            try require(listed == unknown, "lists \(listed), not \(unknown)")
            let text = Array(RulesText.encode(rules).utf8)
            try require(text.allSatisfy { $0 < 0x80 }, "writes what is not ASCII")
            try require(RulesText.decode(text) == .understood(rules, unknown: []), "\(rules) is read back otherwise")
            try Self.write(rules, over: bytes)
        case .ofLaterRelease(let text), .unreadable(let text):
            try require(!text.isEmpty && text.utf8.count < 8_192, "the reason has \(text.utf8.count) bytes")
            try require(!text.utf8.contains { $0 < 0x20 }, "the reason has a control character")
        }
        try Self.write(Self.rules, over: bytes)
        try Self.write(Self.slow, over: bytes)
    }

    /// Writes rules over a text, and requires that they are read back, with all unknown members if these fit.
    private static func write(_ rules: Rules, over old: [UInt8]) throws {
        let text = Array(RulesText.encode(rules, over: old).utf8)
        try require(text.count <= 4_096, "writes \(text.count) bytes")
        let kept = Self.unknown(text, keepingThoseOfSlow: rules.slow != nil)
        let unknown = Self.unknown(old, keepingThoseOfSlow: rules.slow != nil)
        // An upper bound of the text with all unknown members.
        let fits = old.count + RulesText.encode(rules).utf8.count <= 4_096
        try require(kept == unknown || !fits && kept.isEmpty, "keeps \(kept) of \(unknown)")
        try require(Array(RulesText.encode(rules, over: text).utf8) == text, "a second time it writes otherwise")
        switch RulesText.decode(text) {
        case .understood(let found, _): try require(found == rules, "\(rules) is read back as \(found)")
        case .ofLaterRelease(let what):
            try require(kept.contains { $0.utf8.contains(UInt8(ascii: "!")) }, "of a later release: \(what)")
        case .unreadable(let why): try require(false, "writes what is unreadable: \(why)")
        }
    }

    private static func unknown(_ text: [UInt8], keepingThoseOfSlow: Bool) -> [String] {
        let unknown = RulesText.unknownMembers(of: text)
        return keepingThoseOfSlow ? unknown : unknown.filter { !$0.utf8.starts(with: "slow.".utf8) }
    }

    var seeds: [[UInt8]] {
        [
            RulesText.encode(Self.rules), RulesText.encode(Self.slow),
            #"{"trip":{"count":5,"rule":"failures","windowMicroseconds":60000000},"minimumReporters":2}"#,
            #"{ "a" : [1.5e-3, true, null, "\u00e9\ud83d\ude00"], "tr\u0069p":{"rule":"moonPhase"}, "slow":{"x":{}} }"#,
            #"{"!a":1,"trip":{"rule":"consecutiveFailures","count":1,"!b":2},"recovery":{"growth":2}}"#,
            "[[[[[[[[1]]]]]]]]", #"{"probes":{"limit":10001},"probes":null}"#,
        ].map { Array($0.utf8) }
    }
}

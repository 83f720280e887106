import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct RuleTextTests {
    @Test(arguments: [
        ("5/60s", TripRule.failures(5, within: .seconds(60))), ("1/1.5h", .failures(1, within: .seconds(5_400))),
        ("50%/20/60s", .failureRate(0.5, minimumCalls: 20, within: .seconds(60))),
        ("12.5%/1/10m", .failureRate(0.125, minimumCalls: 1, within: .seconds(600))),
        ("5x", .consecutiveFailures(5)),
        (#"{"trip":{"rule":"consecutiveFailures","count":3}}"#, .consecutiveFailures(3)),
        ("{}", .failures(5, within: .seconds(60))),
    ])
    func readsTheTripRule(text: String, trip: TripRule) throws {
        #expect(try RuleText(text).config(named: "a").trip == trip)
    }

    @Test func readsAWholeConfiguration() throws {
        let text = """
            {"name": "a", "group": "g", "mode": "observing", "minimumReporters": 2,
             "trip": {"rule": "failures", "count": 2, "windowMicroseconds": 1000000},
             "recovery": {"timeoutMicroseconds": 1000000}, "probes": {"limit": 3}}
            """
        let config = try RuleText(#"{"group":"g"}"#).config(named: "a")
        #expect(config == CircuitBreaker.Config(name: "a", group: "g"))
        let whole = try CircuitBreaker.Config(name: "a", json: text)
        #expect(
            whole
                == CircuitBreaker.Config(
                    name: "a", group: "g", trip: .failures(2, within: .seconds(1)),
                    recovery: RecoveryRule(timeout: .seconds(1)), probes: ProbeRule(limit: 3), minimumReporters: 2,
                    mode: .observing))
    }

    @Test(arguments: [
        ("", "takes rules"), ("5", "takes rules"), ("x", "takes rules"), ("5/", "no valid window"),
        ("/60s", "takes rules"),
        ("5/60", "no valid window"), ("-5/60s", "takes rules"), ("5/60s/1", "takes rules"), ("0/60s", "trip.count"),
        ("0x", "trip.count"), ("0%/20/60s", "trip.share"), ("101%/20/60s", "trip.share"), ("50%/0/60s", "minimumCalls"),
        ("50%/20", "takes rules"), ("1e3x", "takes rules"), ("9999999999x", "takes rules"),
        ("5/60s\u{1B}[2J", "no valid window"),
        ("\u{661}x", "takes rules"), ("{", "no JSON"), ("{]", "no JSON"), ("{\"a\":1}", "unknown member 'a'"),
        (#"{"trip":{"rule":"failures"}}"#, "is missing"), (#"{"trip":{"rule":"new"}}"#, "does not know"),
        (#"{"probes":{"limit":0}}"#, "probes.limit"), (#"{"probes":{"limit":"1"}}"#, "expected"),
        (#"{"probes":{"limits":1}}"#, "unknown member 'probes.limits'"), (#"{"mode":"off"}"#, "mode"),
        (#"{"group":7}"#, "the JSON has a group that is"), (#"{"name":"b"}"#, "another circuit"),
        (#"{"a":1,"a":1}"#, "no JSON"),
    ])
    func refusesOtherTexts(text: String, problem: String) throws {
        let failure = try #require(throws: Failure.self) { try RuleText(text) }
        #expect(failure.code == .usage)
        #expect(failure.message.contains(problem), "\(failure.message)")
        #expect(failure.message == failure.message.escaped)
    }

    @Test func aLongTextIsNoRule() {
        #expect(throws: Failure.self) { try RuleText("{" + String(repeating: " ", count: 5_000) + "}") }
        #expect(throws: Failure.self) { try RuleText(String(repeating: "9", count: 100_000)) }
    }

    /// A short form says nothing about what it does not name.
    @Test(arguments: [
        ("2x", nil), ("3x", "trip 2 in a row -> 3 in a row"),
        (#"{"trip":{"rule":"consecutiveFailures","count":2}}"#, "reporters 3 -> 1"),
    ])
    func reportsWhatDiffers(text: String, difference: String?) throws {
        let stored = CircuitBreaker.Config(name: "a", trip: .consecutiveFailures(2), minimumReporters: 3)
        let rule = try RuleText(text)
        #expect(try rule.difference(of: rule.config(named: "a"), from: stored) == difference)
    }
}

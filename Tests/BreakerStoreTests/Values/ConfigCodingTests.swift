import BreakerStore
import Testing

@Suite struct ConfigCodingTests {
    static let full = CircuitBreaker.Config(
        name: "UserServiceAPI", group: "NetworkServices", trip: .consecutiveFailures(7),
        recovery: RecoveryRule(timeout: .milliseconds(1_500), multiplier: 2.5, cap: .seconds(90), jitter: 0.25),
        probes: ProbeRule(limit: 2, successesToClose: 3, lease: .seconds(5)), minimumReporters: 4)

    static let cases: [(CircuitBreaker.Config, String)] = [
        (
            CircuitBreaker.Config(name: "a"),
            #"{"minimumReporters":1,"name":"a","#
                + #""probes":{"leaseMicroseconds":30000000,"limit":1,"successesToClose":1},"#
                + #""recovery":{"capMicroseconds":600000000,"jitter":0,"#
                + #""multiplier":1,"timeoutMicroseconds":30000000},"#
                + #""trip":{"count":5,"rule":"failures","windowMicroseconds":60000000}}"#
        ),
        (
            Self.full,
            #"{"group":"NetworkServices","minimumReporters":4,"name":"UserServiceAPI","#
                + #""probes":{"leaseMicroseconds":5000000,"limit":2,"successesToClose":3},"#
                + #""recovery":{"capMicroseconds":90000000,"jitter":0.25,"#
                + #""multiplier":2.5,"timeoutMicroseconds":1500000},"#
                + #""trip":{"count":7,"rule":"consecutiveFailures"}}"#
        ),
        (
            CircuitBreaker.Config(
                name: "a", probes: ProbeRule(successesToClose: 20, growth: 2, toleratedShare: 0.1)),
            #"{"minimumReporters":1,"name":"a","#
                + #""probes":{"growth":2,"leaseMicroseconds":30000000,"limit":1,"successesToClose":20,"#
                + #""toleratedShare":0.1},"recovery":{"capMicroseconds":600000000,"jitter":0,"#
                + #""multiplier":1,"timeoutMicroseconds":30000000},"#
                + #""trip":{"count":5,"rule":"failures","windowMicroseconds":60000000}}"#
        ),
        (
            CircuitBreaker.Config(
                name: "a", trip: .failureRate(0.5, minimumCalls: 20, within: .seconds(10)),
                slow: SlowCallRule(longerThan: .seconds(2), share: 0.25, minimumCalls: 9), mode: .observing),
            #"{"minimumReporters":1,"mode":"observing","name":"a","#
                + #""probes":{"leaseMicroseconds":30000000,"limit":1,"successesToClose":1},"#
                + #""recovery":{"capMicroseconds":600000000,"jitter":0,"#
                + #""multiplier":1,"timeoutMicroseconds":30000000},"#
                + #""slow":{"minimumCalls":9,"share":0.25,"thresholdMicroseconds":2000000,"#
                + #""windowMicroseconds":60000000},"#
                + #""trip":{"minimumCalls":20,"rule":"failureRate","share":0.5,"windowMicroseconds":10000000}}"#
        ),
    ]

    @Test(arguments: Self.cases)
    func writesMicrosecondsAndReadsThemBack(config: CircuitBreaker.Config, text: String) throws {
        #expect(try JSON.text(config) == text)
        #expect(try JSON.value(CircuitBreaker.Config.self, text) == config)
    }

    @Test(arguments: [
        #"{"name":"a"}"#,
        #"{"name":"a","recovery":{},"probes":{}}"#,
        #"{"name":"a","group":null,"trip":null,"recovery":null,"probes":null,"minimumReporters":null}"#,
        #"{"name":"a","ofALaterVersion":1}"#,
    ])
    func takesDefaultsForWhatIsMissing(text: String) throws {
        #expect(try JSON.value(CircuitBreaker.Config.self, text) == CircuitBreaker.Config(name: "a"))
    }

    @Test func refusesARuleItDoesNotKnow() throws {
        let error = #expect(throws: DecodingError.self) {
            try JSON.value(TripRule.self, #"{"rule":"moonPhase","count":5}"#)
        }
        guard case .dataCorrupted(let context) = error else {
            Issue.record("not dataCorrupted: \(String(describing: error))")
            return
        }
        #expect(context.debugDescription == "unknown trip rule 'moonPhase'")
    }

    @Test(arguments: [
        #"{}"#,
        #"{"name":"a","trip":{"count":5}}"#,
        #"{"name":"a","trip":{"rule":"failures","count":5}}"#,
        #"{"name":"a","recovery":{"timeoutMicroseconds":1.5}}"#,
        #"{"name":"a","probes":{"leaseMicroseconds":[0,1]}}"#,
    ])
    func refusesWhatItCannotRead(text: String) {
        #expect(throws: DecodingError.self) { try JSON.value(CircuitBreaker.Config.self, text) }
    }

    @Test func refusesToWriteADurationThatOverflows() {
        let config = CircuitBreaker.Config(name: "a", recovery: RecoveryRule(timeout: Duration(attoseconds: .max)))
        #expect(throws: EncodingError.self) { try JSON.text(config) }
    }
}

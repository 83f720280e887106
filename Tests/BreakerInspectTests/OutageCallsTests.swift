import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What outages have cost: the calls that failed or were refused from a trip on.
@Suite(.timeLimit(.minutes(10))) struct OutageCallsTests {
    private let clock = ManualHostClock()
    private let shop: Shop

    init() throws { self.shop = try Shop(clock: self.clock) }

    private struct Fields: Decodable {
        struct Outage: Decodable {
            var failed: Int?
            var refused: Int?
            var failedProbes: Int
            var endedBy: String?
            var isSettled: Bool
            var isStartKnown: Bool
            var until: String?
        }
        struct Hurt: Decodable, Equatable {
            var failed: Int
            var refused: Int
        }
        struct Circuit: Decodable {
            var hurt: Hurt?
            var outages: [Outage]
            var tripsWithinHour: Int
        }
        var circuit: Circuit?
        var outages: [Outage]?
    }

    private func fields(_ arguments: String...) throws -> Fields {
        let output = self.shop.inspect(arguments: arguments + ["--json"]).output
        return try JSONDecoder().decode(Fields.self, from: Data(output.utf8))
    }

    private func circuit() throws -> Fields.Circuit { try #require(try self.fields("show", "users").circuit) }

    private func outages(_ more: String...) throws -> [Fields.Outage] {
        let output = self.shop.inspect(arguments: ["history", "users", "--outages", "--json"] + more).output
        return try #require(try JSONDecoder().decode(Fields.self, from: Data(output.utf8)).outages)
    }

    /// Calls that the circuit refuses, published to the board.
    private func refuse(_ count: Int, _ breaker: CircuitBreaker) {
        for _ in 0..<count { #expect(throws: CircuitOpenError.self) { try breaker.run {} } }
        _ = breaker.totals
    }

    private func fail(_ breaker: CircuitBreaker) { try? breaker.run { throw Boom() } }

    @Test func countsFromTheTripToTheEnd() throws {
        let breaker = try self.shop.circuit("users")
        breaker.recordSuccess()
        self.fail(breaker)
        #expect(try self.circuit().hurt == nil)
        // A failure that the window has forgotten by then is not the outage's.
        self.clock.advance(by: .seconds(100))
        self.fail(breaker)
        self.fail(breaker)
        #expect(try self.circuit().hurt == Fields.Hurt(failed: 2, refused: 0))
        self.refuse(7, breaker)
        #expect(try self.circuit().hurt == Fields.Hurt(failed: 2, refused: 7))
        self.clock.advance(by: .seconds(30))
        self.fail(breaker)
        self.refuse(3, breaker)
        #expect(try self.circuit().hurt == Fields.Hurt(failed: 3, refused: 10))
        self.clock.advance(by: .seconds(30))
        try breaker.run {}
        let ended = try self.circuit()
        #expect(ended.hurt == nil)
        let outage = try #require(ended.outages.first)
        #expect(outage.failed == 3 && outage.refused == 10 && outage.failedProbes == 1 && outage.endedBy == "a probe")
        #expect(!outage.isSettled)
        self.clock.advance(by: .seconds(2))
        #expect(try self.outages().map(\.isSettled) == [true])
        // The successes and failures of the closed circuit are not the outage's.
        self.fail(breaker)
        #expect(try self.outages().map(\.failed) == [3])
        let events = try self.shop.store.history(of: "users").filter { $0.failed != nil }
        #expect(events.map(\.kind) == [.closed, .probing, .reopened, .probing, .tripped])
        #expect(events.map(\.failed) == [0, 1, 0, 2, 1])
        #expect(events.map(\.refused) == [0, 3, 0, 7, 0])
    }

    /// Workers publish refusals about each second, so some come to the file after the end.
    @Test func refusalsPublishedLateCount() throws {
        let breaker = try self.shop.circuit("users", failures: 2)
        self.refuse(1, breaker)
        for _ in 0..<4 { #expect(throws: CircuitOpenError.self) { try breaker.run {} } }
        try self.shop.store.reset("users")
        _ = breaker.totals
        let late = try self.outages()
        #expect(late.map(\.refused) == [5] && late.map(\.endedBy) == ["reset"])
        self.clock.advance(by: .seconds(1))
        self.fail(breaker)
        self.fail(breaker)
        let both = try self.outages()
        #expect(both.map(\.refused) == [0, 5] && both.map(\.failed) == [2, 2])
    }

    @Test func saysWhatItCost() throws {
        let breaker = try self.shop.circuit("users", failures: 2)
        self.refuse(74, breaker)
        self.clock.advance(by: .seconds(9))
        let open = self.shop.inspect("show", "users").output
        #expect(open.contains("(9 s ago): 2 calls failed, 74 were refused"), "\(open)")
        self.clock.advance(by: .seconds(30))
        try breaker.run {}
        let closed = self.shop.inspect("show", "users").output
        #expect(closed.contains(", 39 s: 2 failed, 74 refused"), "\(closed)")
        let table = self.shop.inspect("history", "users", "--outages").output
        #expect(table.contains("39 s") && table.contains("74  a probe"), "\(table)")
        let page = self.shop.directory.appendingPathComponent("report.html")
        #expect(self.shop.inspect("report", page.path).code == .done)
        #expect(try String(contentsOf: page, encoding: .utf8).contains("<td>2 failed, 74 refused</td>"))
        let metrics = self.shop.inspect("metrics").output
        #expect(
            metrics.contains(
                #"breaker_outage_calls_total{store="\#(self.shop.path)",circuit="users",group="",result="refused"} 74"#)
        )
        #expect(
            metrics.contains(
                #"breaker_outage_calls_total{store="\#(self.shop.path)",circuit="users",group="",result="failed"} 2"#))
    }

    private func metric(_ name: String, _ result: String) throws -> String? {
        let start = #"\#(name){store="\#(self.shop.path)",circuit="users",group="",result="\#(result)"} "#
        let lines = self.shop.inspect("metrics").output.split(separator: "\n").filter { $0.hasPrefix(start) }
        return lines.first.map { String($0.dropFirst(start.count)) }
    }

    /// The metric is a counter: it never falls, stays when the history is gone, and grows with each outage.
    @Test func theMetricAddsUpAllOutages() throws {
        let breaker = try self.shop.circuit("users")
        for _ in 0..<3 {
            self.fail(breaker)
            self.fail(breaker)
            self.refuse(5, breaker)
            self.clock.advance(by: .seconds(30))
            try breaker.run {}
        }
        self.fail(breaker)
        self.fail(breaker)
        self.refuse(1, breaker)
        #expect(try self.metric("breaker_outage_calls_total", "failed") == "6")
        #expect(try self.metric("breaker_outage_calls_total", "refused") == "15")
        #expect(try self.metric("breaker_current_outage_calls", "failed") == "2")
        #expect(try self.metric("breaker_current_outage_calls", "refused") == "1")
        // A worker of a release that does not add to the sums ends the window generation.
        try Shop.sqlite(
            self.shop.path, "UPDATE circuit SET generation_refused = generation_refused + 1, outage_refused = 0;")
        #expect(try self.metric("breaker_outage_calls_total", "refused") == "15")
        self.clock.advance(by: .seconds(30))
        try breaker.run {}
        #expect(try self.metric("breaker_outage_calls_total", "failed") == "8")
        #expect(try self.metric("breaker_current_outage_calls", "failed") == nil)
        let metrics = self.shop.inspect("metrics").output
        #expect(metrics.contains(#"breaker_trips_within_hour{store="\#(self.shop.path)",circuit="users",group=""} 4"#))
    }

    /// A hold that ends by its time leaves no event before the next change, and its refusals are no outage's.
    @Test func whatAHoldRefusedIsNoOutages() throws {
        let breaker = try self.shop.circuit("users", failures: 2)
        self.clock.advance(by: .seconds(30))
        try breaker.run {}
        let before = try self.metric("breaker_outage_calls_total", "refused")
        try self.shop.store.hold("users", .open, for: .seconds(60))
        self.refuse(5, breaker)
        self.clock.advance(by: .seconds(61))
        for _ in 0..<2 { self.fail(breaker) }
        #expect(try self.outages().map(\.refused) == [0, 0])
        #expect(try self.metric("breaker_outage_calls_total", "refused") == before)
    }

    /// A board is lost with its counts: a smaller number is no outage of less than nothing.
    @Test func lostCountsAreUnknown() throws {
        let breaker = try self.shop.circuit("users", failures: 1)
        self.fail(breaker)
        self.refuse(9, breaker)
        self.shop.store.close()
        try Shop.sqlite(self.shop.path, "DELETE FROM counters; UPDATE circuit SET outage_failed = 50;")
        try FileManager.default.removeItem(atPath: self.shop.path + "-board")
        let circuit = try self.circuit()
        #expect(circuit.hurt == nil && circuit.outages.map(\.failed) == [nil])
        let text = self.shop.inspect("show", "users").output
        #expect(text.contains("how many calls it hurt is unknown: counts were lost"), "\(text)")
        #expect(self.shop.inspect("history", "--outages").output.contains("unknown"))
    }

    @Test func showsThatACircuitFlaps() throws {
        let breaker = try self.shop.circuit("users", recovery: 10)
        func outage(of seconds: Int = 10) throws {
            self.fail(breaker)
            self.fail(breaker)
            self.clock.advance(by: .seconds(seconds))
            try breaker.run {}
            self.clock.advance(by: .seconds(10))
        }
        try outage()
        try outage()
        #expect(!self.shop.inspect("show", "users").output.contains("flaps"))
        try outage()
        let text = self.shop.inspect("show", "users").output
        #expect(text.contains("3 within the last 60 s, 10 s each, the last 10 s ago"), "\(text)")
        #expect(text.contains("it flaps: see 'breaker-inspect history users --outages'"), "\(text)")
        #expect(text.contains(/why       closed by a probe of \S+\[\d+\]\n/), "\(text)")
        #expect(try self.shop.row("users")["TRIPS"] == "3")
        let doctor = self.shop.inspect("doctor")
        #expect(doctor.output.contains("users has tripped 3 times within the last hour"), "\(doctor.output)")
        #expect(try self.circuit().tripsWithinHour == 3)
        self.clock.advance(by: .seconds(3_570))
        #expect(try self.circuit().tripsWithinHour == 1)
        try outage(of: 12)
        try outage()
        try outage()
        let lengths = self.shop.inspect("show", "users").output
        #expect(lengths.contains(", 10 s to 12 s each, the last 10 s ago"), "\(lengths)")
        self.clock.advance(by: .seconds(3_600))
        #expect(!self.shop.inspect("show", "users").output.contains("flaps"))
    }

    /// The outage may last: nothing but the row knows, and it can't be read.
    @Test(arguments: [["users"], []])
    func anUnreadableCircuitsOutageHasNoEnd(names: [String]) throws {
        let breaker = try self.shop.circuit("users", failures: 1)
        self.fail(breaker)
        self.clock.advance(by: .seconds(5))
        try Shop.sqlite(self.shop.path, "UPDATE circuit SET epoch = -1;")
        let (code, output, talk) = self.shop.inspect(arguments: ["history", "--outages"] + names)
        #expect(code == .failed && talk.contains("the row of circuit 'users' can't be read"), "\(talk)")
        #expect(output.contains("not after ") && output.contains("unknown"), "\(output)")
        let json = self.shop.inspect(arguments: ["history", "--outages", "--json"] + names).output
        #expect(json.contains(#""isEndKnown":false"#) && json.contains(#""failed":null"#), "\(json)")
    }

    /// The row knows when the outage began, where the history no longer has its trip.
    @Test func theStartOutlivesTheHistory() throws {
        let breaker = try self.shop.circuit("users", failures: 1)
        self.fail(breaker)
        self.clock.advance(by: .seconds(30))
        self.fail(breaker)
        _ = breaker.totals
        self.clock.advance(by: .seconds(5))
        try Shop.sqlite(self.shop.path, "DELETE FROM event WHERE kind = 'tripped';")
        let outage = try #require(try self.outages().first)
        #expect(outage.isStartKnown)
        #expect(outage.failed == 3)
        let table = self.shop.inspect("history", "users", "--outages").output
        #expect(!table.contains("before ") && table.contains("35 s"), "\(table)")
    }

    /// The process that had the slot is named, before and after its time, not the one that probes next.
    @Test func namesTheRightProber() throws {
        let breaker = try self.shop.circuit("users", failures: 2)
        self.clock.advance(by: .seconds(30))
        let permit = try breaker.admit()
        self.clock.advance(by: .seconds(60))
        let after = self.shop.inspect("show", "users").output
        #expect(after.contains("did not report within 30 s; its slot is free"), "\(after)")
        #expect(self.shop.inspect("show", "users", "--json").output.contains(#""isDead":false,"#))
        permit.fail()
        let event = try #require(try self.shop.store.history(of: "users", limit: 1).first)
        #expect(event.kind == .probeExpired && event.reason == "reported 30 s after its 30 s were over")
        #expect(event.subject?.hasSuffix("[\(getpid())]") == true)
    }

    @Test func outagesHaveNoEventsOptions() {
        for option in [["--follow"], ["--after", "3"]] {
            let result = self.shop.inspect(arguments: ["history", "--outages"] + option)
            #expect(result.code == .usage && result.talk.contains("'--outages' shows outages, not events"))
        }
        #expect(self.shop.inspect("history", "--outages").talk == "no outages in the history\n")
    }
}

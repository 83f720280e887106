import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// The page that `report` writes; `scripts/browser.py` has a real browser show one.
@Suite(.timeLimit(.minutes(10))) struct ReportTests {
    private func page(of shop: Shop, _ arguments: String...) throws -> String {
        let path = shop.directory.appendingPathComponent("report.html").path
        let told = shop.inspect(arguments: ["report", path] + arguments)
        #expect(
            told.code == .done && told.output.isEmpty && told.talk == "breaker-inspect: wrote '\(path)'\n", "\(told)")
        return try String(contentsOfFile: path, encoding: .utf8)
    }

    /// The rows of the table below a heading, each as its cells without marks.
    private func rows(_ page: String, below heading: String) throws -> [[String]] {
        let start = try #require(page.range(of: "<h2>\(heading)</h2>")).upperBound
        let section = page[start...].prefix(upTo: page[start...].range(of: "<h2>")?.lowerBound ?? page.endIndex)
        let rows = section.components(separatedBy: "<tr>").map { row in
            row.components(separatedBy: "</td>").dropLast()
                .map { $0.replacing(#/<[^>]*>/#, with: " ").trimmingCharacters(in: .whitespaces) }
        }
        // Neither headings nor the rows that are folds.
        return rows.filter { $0.count > 1 }
    }

    @Test func showsOutagesAndHolds() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("payments", failures: 2, error: "503 from upstream")
        clock.advance(by: .seconds(31))
        breaker.recordFailure(Boom())
        clock.advance(by: .seconds(31))
        breaker.recordSuccess()
        clock.advance(by: .seconds(60))
        try shop.store.hold("payments", .open, by: "ann", reason: "the provider moves")
        clock.advance(by: .seconds(5))
        try shop.store.release("payments", by: "bob")
        breaker.recordFailure(Boom())
        breaker.recordFailure(Boom())
        clock.advance(by: .seconds(3))
        let page = try self.page(of: shop)

        let outages = try self.rows(page, below: "Outages")
        #expect(outages.count == 2)
        #expect(Array(outages[0][2...5]) == ["lasts", "3 s", "2 failed, 0 refused", "0"], "\(outages)")
        // An older one is folded below the newest, without the circuit's name.
        #expect(outages[1][2] == "62 s" && outages[1][4] == "1")
        #expect(outages[1][6].hasPrefix("2 failures within 60 s, the last: 503 from upstream"), "\(outages)")
        #expect(outages[1][7].hasPrefix("a probe of "))
        let holds = try self.rows(page, below: "Holds")
        #expect(holds.count == 1)
        #expect(
            Array(holds[0][3...7]) == [
                "5 s", "held open", "ann", "the provider moves", "released by bob: ended ann&#39;s hold",
            ])
        let circuits = try self.rows(page, below: "Circuits")
        #expect(circuits.count == 1 && circuits[0][0] == "payments" && circuits[0][1].hasPrefix("open"), "\(circuits)")
        #expect(circuits[0][3] == "6" && circuits[0][4] == "5 (83.3 %)", "\(circuits)")
        let workers = try self.rows(page, below: "Processes")
        #expect(workers.count == 1 && workers[0][2] == Versions.library, "\(workers)")
        #expect(try self.rows(page, below: "History").count >= 6)
    }

    /// What is seen before a click.
    private func withoutFolds(_ page: String) -> String {
        var page = page
        while let end = page.range(of: "</details>"),
            let start = page[..<end.lowerBound].range(of: "<details>", options: .backwards)
        {
            page.removeSubrange(start.lowerBound..<end.upperBound)
        }
        return page
    }

    @Test func outagesOfOneCircuitAreFolded() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let flapping = try shop.circuit("flapping <1>")
        for _ in 0..<60 {
            flapping.recordFailure(Boom())
            flapping.recordFailure(Boom())
            clock.advance(by: .seconds(10))
            try shop.store.reset("flapping <1>")
            clock.advance(by: .seconds(10))
        }
        try shop.circuit("payments", failures: 2)
        for state in [HoldState.open, .closed] { try shop.store.hold("payments", state) }
        let page = try self.page(of: shop)
        let seen = self.withoutFolds(page)
        let outages = try self.rows(seen, below: "Outages")
        #expect(outages.map { $0[0] } == ["payments", "flapping &lt;1&gt;"] && outages[1][3] == "10 s", "\(outages)")
        #expect(try self.rows(seen, below: "Holds").count == 1 && self.rows(page, below: "Holds").count == 2)
        #expect(page.contains("<summary>59 more outages of flapping &lt;1&gt;, since <span"))
        #expect(page.contains("<summary>1 more hold of payments, since <span"))
        #expect(page.contains("<summary>19 more</summary>"))
        #expect(try self.rows(page, below: "Outages").count == 61)
    }

    @Test func noTableIsLong() throws {
        let shop = try Shop()
        for number in 0..<90 { try shop.circuit("service-\(number)", failures: 2) }
        let page = try self.page(of: shop)
        let seen = self.withoutFolds(page)
        for (heading, count) in [("Outages", 90), ("Circuits", 90), ("History", 90)] {
            #expect(try self.rows(seen, below: heading).count == 40)
            #expect(try self.rows(page, below: heading).count == count, "\(heading)")
            #expect(page.contains("<summary>\(count - 40) more</summary>"))
        }
        #expect(seen.components(separatedBy: "<div class=\"track\">").count == 41)
    }

    @Test func showsAnOutageThatTheHistoryHasForgotten() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        try shop.circuit("payments", failures: 2)
        try shop.store.hold("payments", .closed, for: .seconds(60), by: "ann")
        shop.store.close()
        try Shop.sqlite(shop.path, "DELETE FROM event;")
        let page = try self.page(of: shop)
        let outages = try self.rows(page, below: "Holds")
        #expect(outages.count == 1 && outages[0][5] == "not in the history", "\(outages)")
        #expect(page.contains("The history is empty."))
    }

    /// The history keeps the newest events: a long outage loses its trip.
    @Test func anOutageWhoseTripIsGoneIsReported() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("ended", failures: 2)
        let lasting = try shop.circuit("lasting", failures: 2)
        for _ in 0..<3 {
            clock.advance(by: .seconds(31))
            breaker.recordFailure(Boom())
            lasting.recordFailure(Boom())
        }
        clock.advance(by: .seconds(31))
        breaker.recordSuccess()
        shop.store.close()
        try Shop.sqlite(shop.path, "DELETE FROM event WHERE kind = 'tripped'; UPDATE circuit SET outage_since = NULL;")
        let outages = try self.rows(try self.page(of: shop), below: "Outages")
        let ended = try #require(outages.first { $0[0] == "ended" })
        #expect(ended[1].hasPrefix("before") && ended[3] == "more than 93 s", "\(ended)")
        #expect(ended[4] == "unknown how many failed" && ended[5] == "3", "\(ended)")
        let lasts = try #require(outages.first { $0[0] == "lasting" })
        #expect(lasts[2] == "lasts" && lasts[5] == "3", "\(lasts)")
    }

    @Test(arguments: [false, true]) func aHoldThatEndedByItselfEndedThen(isTouched: Bool) throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let breaker = try shop.circuit("payments")
        try shop.store.hold("payments", .open, for: .seconds(1), by: "ann")
        clock.advance(by: .seconds(600))
        if isTouched { breaker.recordFailure(Boom()) }
        let holds = try self.rows(try self.page(of: shop), below: "Holds")
        #expect(holds.count == 1 && holds[0][2].hasPrefix("not after") && holds[0][3] == "at most 10 min", "\(holds)")
        #expect(holds[0][7] == "by itself")
    }

    /// Swift takes these two names for one.
    @Test func namesThatLookAlikeAreTwoCircuits() throws {
        let shop = try Shop()
        try shop.circuit("caf\u{E9}", failures: 2)
        try shop.circuit("cafe\u{301}")
        try shop.store.hold("cafe\u{301}", .open)
        let page = try self.page(of: shop)
        #expect(try self.rows(page, below: "Outages").map { $0[2] } == ["lasts"])
        #expect(try self.rows(page, below: "Holds").map { $0[2] } == ["lasts"])
    }

    /// Whoever writes the longest texts, and trips most often.
    @Test func isSmallEnoughWhateverTheStoreHolds() throws {
        let shop = try Shop()
        let evil = String(repeating: "\"", count: 200)
        for number in 0..<60 {
            let name = String((evil + "\(number)").suffix(200))
            let breaker = try shop.circuit(name, group: evil, error: evil)
            for _ in 0..<20 {
                breaker.recordFailure(Boom())
                breaker.recordFailure(Boom())
                try shop.store.reset(name, by: evil, reason: evil)
            }
        }
        let page = try self.page(of: shop)
        #expect(page.utf8.count < 1_000_000, "\(page.utf8.count)")
        #expect(page.contains(/Left out: \d+ more\./))
    }

    /// No text of the store is a part of the page's language.
    @Test func textsCannotBreakOut() throws {
        let shop = try Shop()
        let evil = "\"><script>alert(1)</script><img src=x onerror='alert(2)'>&lt;"
        try shop.circuit(evil, group: evil, failures: 2, error: evil)
        try shop.store.hold(evil, .open, by: evil, reason: evil)
        let page = try self.page(of: shop)
        let marks = page.matches(of: #/<\/?([a-zA-Z0-9!]+)/#).map { String($0.1) }
        let known: Set = [
            "!DOCTYPE", "html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "b", "span", "i",
            "table",
            "thead", "tbody", "tr", "th", "td", "br", "details", "summary",
        ]
        #expect(Set(marks).subtracting(known) == [])
        #expect(!page.contains("onerror='") && !page.contains("=x onerror=\""))
        // Quotation marks of a text end no attribute.
        let titles = page.matches(of: #/title="([^"]*)"/#).map { String($0.1) }
        #expect(titles.contains { $0.hasPrefix("&quot;&gt;&lt;script&gt;") })
    }

    @Test func isSmallEnoughForATicket() throws {
        let shop = try Shop()
        _ = try shop.store.breakers(
            (0..<1_200).map { .init(name: "service-\($0)", group: "group \($0 % 9)") }, calls: CallPolicy())
        for number in 0..<50 {
            let breaker = try shop.store.breaker(named: "service-\(number)")
            for _ in 0..<5 { breaker.recordFailure(Boom()) }
            try shop.store.reset("service-\(number)", by: "ann", reason: String(repeating: "long ", count: 100))
        }
        let page = try self.page(of: shop)
        #expect(page.utf8.count < 1_000_000, "\(page.utf8.count)")
        #expect(page.contains(/Left out: \d+ more\./))
        #expect(try self.rows(page, below: "Circuits").count >= 900)
    }

    @Test func replacesNoFileUnasked() throws {
        let shop = try Shop()
        let path = shop.directory.appendingPathComponent("report.html").path
        try "mine".write(toFile: path, atomically: false, encoding: .utf8)
        let refused = shop.inspect("report", path)
        #expect(refused.code == .failed && refused.talk.contains("hint: ") && refused.talk.contains("--force"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
        #expect(try self.page(of: shop, "--force").hasPrefix("<!DOCTYPE html>"))
        try shop.circuit("a", failures: 1)
        for file in ["", "-wal", "-lock", "-board"] {
            let told = shop.inspect("report", shop.path + file, "--force")
            #expect(told.code == .failed && told.talk.contains("that is a file of the store"), "\(told)")
            #expect(shop.inspect("metrics", "--output", shop.path + file).code == .failed)
        }
        // By another name, too.
        let other = "\(shop.directory.path)/other.db"
        try FileManager.default.createSymbolicLink(atPath: other, withDestinationPath: shop.path)
        #expect(shop.inspect("report", shop.path + "-lock", "--force", "--store", other).code == .failed)
        #expect(shop.inspect("metrics", "--output", shop.path + "-lock", "--store", other).code == .failed)
        #expect(shop.inspect("check").code == .done)
        let missing = shop.inspect("report", "\(shop.directory.path)/none/report.html")
        #expect(missing.code == .failed && missing.talk.contains("No such file or directory"))
        #expect(shop.inspect("report").code == .usage && shop.inspect("report", "a", "b").code == .usage)
        #expect(
            try !FileManager.default.contentsOfDirectory(atPath: shop.directory.path).contains { $0.hasPrefix(".") })
    }
}

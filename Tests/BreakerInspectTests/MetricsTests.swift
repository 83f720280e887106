import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What `metrics` tells; `scripts/prometheus.py` has a real Prometheus read it.
@Suite(.timeLimit(.minutes(10))) struct MetricsTests {
    /// The samples of a name with these labels beside those of the store, by the rest of the labels.
    private func samples(_ output: String, _ name: String, _ labels: String = "{") -> [String: String] {
        var samples: [String: String] = [:]
        for line in output.split(separator: "\n") where line.hasPrefix("\(name){") && line.contains(labels) {
            let end = line.lastIndex(of: "}") ?? line.startIndex
            let own = line[line.startIndex..<end].split(separator: ",").last.map { String($0) } ?? ""
            samples[own] = line[line.index(after: end)...].trimmingCharacters(in: .whitespaces)
        }
        return samples
    }

    @Test func showsAllStates() throws {
        let shop = try Shop()
        try shop.fillWithStates()
        let told = shop.inspect("metrics", "--store", "shop=\(shop.path)")
        #expect(told.code == .done && told.talk.isEmpty)
        func states(_ circuit: String) -> [String: String] {
            self.samples(told.output, "breaker_state", #"store="shop",circuit="\#(circuit)""#)
        }
        for (circuit, word) in [
            ("a closed", "closed"), ("b open", "open"), ("d held open", "held-open"), ("e held closed", "held-closed"),
        ] {
            let states = states(circuit)
            #expect(states.count == 5 && states["state=\"\(word)\""] == "1", "\(circuit): \(states)")
            #expect(states.values.count { $0 == "0" } == 4)
        }
        func value(_ name: String, _ circuit: String) -> String? {
            self.samples(told.output, name, "circuit=\"\(circuit)\"").values.first
        }
        #expect(value("breaker_failures", "a closed") == "1")
        #expect(value("breaker_retry_in_seconds", "b open") == "30")
        #expect(value("breaker_retry_in_seconds", "d held open") == "7200")
        #expect(value("breaker_retry_in_seconds", "a closed") == nil)
        for line in [
            #"breaker_calls_total{store="shop",circuit="b open",group="shop",result="failed"} 2"#,
            #"breaker_transitions_total{store="shop",circuit="b open",group="shop",kind="tripped"} 1"#,
            #"breaker_transitions_total{store="shop",circuit="d held open",group="",kind="held"} 1"#,
            // The first trip is to be an increase.
            #"breaker_transitions_total{store="shop",circuit="a closed",group="shop",kind="tripped"} 0"#,
        ] {
            #expect(told.output.contains("\n\(line)\n"), "\(line)")
        }
        #expect(told.output.contains("breaker_store_up{store=\"shop\"} 1\n"))
        #expect(told.output.contains("breaker_workers{store=\"shop\"} 1\n"))
        let versions = #"version="\#(Versions.library)",schema="\#(Versions.schema)",sqlite="\#(Versions.sqlite)""#
        #expect(told.output.contains("breaker_info{store=\"shop\",\(versions)} 1\n"))
    }

    /// Since when a circuit is held, and by whom; an operator's name may hold any text.
    @Test func showsHoldsWithTheirAges() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        for (name, by) in [("held", "ann"), ("hostile", "a\"} 7\u{7}\\"), ("nobody", nil), ("free", nil)] {
            try shop.circuit(name)
            if name != "free" { try shop.store.hold(name, .open, by: by) }
        }
        clock.advance(by: .seconds(90_000))
        let output = shop.inspect("metrics", "--store", "shop=\(shop.path)").output
        let shown = output.split(separator: "\n").filter { $0.hasPrefix("breaker_hold_age_seconds{") }
            .map { $0.dropFirst("breaker_hold_age_seconds{store=\"shop\",circuit=".count) }
        #expect(
            shown == [
                #""held",group="",by="ann"} 90000"#, #""hostile",group="",by="a\"} 7\\u{7}\\"} 90000"#,
                #""nobody",group="",by=""} 90000"#,
            ], "\(shown)")
    }

    /// The number of series stays small, whatever texts the file has.
    @Test func countsWorkersByRelease() {
        func counts(_ versions: [String?], ofLive live: Int? = nil) -> [String] {
            let workers = versions.enumerated().map { number, version in
                WorkerSnapshot(id: Int64(number), name: "w", pid: 7, version: version, since: .now)
            }
            return ReleaseCounts(workers, ofLive: live ?? workers.count).counts.map { "\($0.version) \($0.count)" }
        }
        #expect(counts([]).isEmpty)
        #expect(counts(["0.6.0", "0.6.1", nil, "0.6.1"], ofLive: 6) == ["unknown 3", "0.6.1 2", "0.6.0 1"])
        let hostile = (0..<500).map { "v\($0)" } + ["v7", String(repeating: "long", count: 50)]
        let shown = counts(hostile)
        #expect(shown.count == 11 && shown.first == "v7 2" && shown.last == "other 491", "\(shown)")
        // The name of the rest is a version of somebody, too: one series all the same.
        let others = counts(["other", "other"] + hostile)
        #expect(others.last == "other 493" && others.count { $0.hasPrefix("other ") } == 1, "\(others)")
    }

    @Test func showsTheReleaseOfTheWorkers() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let output = shop.inspect("metrics", "--store", "shop=\(shop.path)").output
        let line = "breaker_workers_by_version{store=\"shop\",version=\"\(Versions.library)\"} 1\n"
        #expect(output.contains(line), "\(output)")
    }

    /// The series of a family stand together below its heading, as the format demands; nothing comes twice.
    @Test func isWellFormed() throws {
        let shop = try Shop()
        try shop.fillWithStates()
        let output = shop.inspect("metrics").output
        var families: [Substring] = []
        for line in output.split(separator: "\n") {
            if line.hasPrefix("# HELP ") {
                families.append(line.split(separator: " ")[2])
            } else if !line.hasPrefix("#") {
                #expect(families.last.map { line.hasPrefix($0) } == true, "\(line)")
            }
        }
        #expect(families.count == Set(families).count)
        let series = output.split(separator: "\n").map { $0.prefix { $0 != "}" } }.filter { !$0.hasPrefix("#") }
        #expect(series.count == Set(series).count)
        #expect(output.hasSuffix("\n"))
    }

    @Test func showsDurationsCumulatively() throws {
        let shop = try Shop()
        let slow = SlowCallRule(longerThan: .milliseconds(20), share: 0.9, minimumCalls: 50)
        let breaker = try shop.store.breaker(.init(name: "payments", slow: slow))
        let clock = try #require(shop.clock as? ManualHostClock)
        for milliseconds in [1, 3, 3, 30, 60_000] {
            try breaker.run { clock.advance(by: .milliseconds(milliseconds)) }
        }
        // The process tells what it has counted.
        #expect(breaker.totals.succeeded == 5)
        let output = shop.inspect("metrics").output
        let buckets = self.samples(output, "breaker_call_duration_seconds_bucket")
        #expect(buckets.count == 16)
        for (bound, count) in [
            ("0.001", 1), ("0.002", 1), ("0.005", 3), ("0.02", 3), ("0.05", 4), ("50", 4), ("+Inf", 5),
        ] {
            #expect(buckets["le=\"\(bound)\""] == "\(count)", "\(bound): \(buckets)")
        }
        #expect(self.samples(output, "breaker_call_duration_seconds_sum").values.first == "60.037")
        #expect(self.samples(output, "breaker_call_duration_seconds_count").values.first == "5")
        #expect(self.samples(output, "breaker_slow_calls_total").values.first == "2")
    }

    @Test func showsWhichCircuitsObserve() throws {
        let shop = try Shop()
        var config = CircuitBreaker.Config(name: "new", trip: .failures(1, within: .seconds(60)))
        config.mode = .observing
        try shop.store.breaker(config).recordFailure(Boom())
        let output = shop.inspect("metrics").output
        #expect(self.samples(output, "breaker_state")["state=\"open\""] == "1")
        #expect(self.samples(output, "breaker_observing").count == 1)
        #expect(self.samples(output, "breaker_retry_in_seconds").isEmpty)
    }

    @Test func showsThoseFirstThatRefuse() throws {
        let shop = try Shop()
        for number in 0..<5 { try shop.circuit("c\(number)", failures: number == 3 ? 2 : 0) }
        let told = shop.inspect("metrics", "--max-circuits", "2")
        #expect(told.code == .done)
        #expect(told.talk.contains("3 circuits of"), "\(told.talk)")
        #expect(told.talk.contains("--max-circuits 5"))
        let circuits = told.output.split(separator: "\n").filter { $0.hasPrefix("breaker_failures{") }
            .compactMap { $0.split(separator: "\"").dropFirst(3).first }
        #expect(circuits == ["c3", "c0"])
        #expect(self.samples(told.output, "breaker_circuits_left_out").values.first == "3")
        #expect(shop.inspect("metrics", "--max-circuits", "5").talk.isEmpty)
        #expect(shop.inspect("metrics", "--max-circuits", "0").output.contains("breaker_circuits_left_out"))
    }

    /// Somebody wrote these names into the file, behind the back of the library.
    @Test func namesCannotBreakOut() throws {
        let shop = try Shop()
        for number in 0..<4 { try shop.circuit("c\(number)") }
        shop.store.close()
        // char(92) is a backslash, char(34) a quotation mark.
        let names = [
            "'a' || char(92) || char(10) || char(34, 125) || ' 7'", "char(27) || '[2J'", "char(92) || 'u{1B}[2J'",
            "char(3406, 92) || 'u{1B}'",
        ]
        for (number, name) in names.enumerated() {
            try Shop.sqlite(shop.path, "UPDATE circuit SET name = \(name) WHERE name = 'c\(number)';")
        }
        let told = shop.inspect("metrics", "--store", "shop=\(shop.path)")
        #expect(!told.output.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        let shown = told.output.split(separator: "\n").filter { $0.hasPrefix("breaker_failures{") }
            .map { $0.dropFirst("breaker_failures{store=\"shop\",".count) }
        #expect(
            shown == [
                #"circuit="\\u{1B}[2J",group=""} 0"#, #"circuit="\\u{5C}u{1B}[2J",group=""} 0"#,
                #"circuit="a\\\\u{A}\"} 7",group=""} 0"#, "circuit=\"\u{D4E}\\\\u{5C}u{1B}\",group=\"\"} 0",
            ], "\(shown)")
    }

    @Test func aStoreThatCannotBeReadKeepsNobodyFromTheOthers() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let told = shop.inspect("metrics", "--store", "gone=/nowhere/x.db", "--store", "shop=\(shop.path)")
        #expect(told.code == .failed)
        #expect(told.talk.contains("'/nowhere/x.db': no such file"))
        #expect(told.output.contains("breaker_store_up{store=\"gone\"} 0\n"))
        #expect(told.output.contains("breaker_store_up{store=\"shop\"} 1\n"))
        #expect(!told.output.contains("breaker_workers{store=\"gone\"}"))
        #expect(self.samples(told.output, "breaker_failures", "store=\"shop\"").count == 1)
    }

    /// A path may have an equals sign in it.
    @Test func onlyANameStandsBeforeTheEqualsSign() throws {
        let shop = try Shop()
        let told = shop.inspect("metrics", "--store", "\(shop.directory.path)/a=b.db")
        #expect(told.output.contains("breaker_store_up{store=\"\(shop.directory.path)/a=b.db\"} 0\n"))
    }

    @Test func replacesTheFileAsAWhole() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let directory = shop.directory.appendingPathComponent("collected")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        let file = directory.appendingPathComponent("shop.prom")
        try "old\n".write(to: file, atomically: false, encoding: .utf8)
        // A reader of the old file goes on with it.
        let reader = try FileHandle(forReadingFrom: file)
        let told = shop.inspect("metrics", "--output", file.path)
        #expect(told.code == .done && told.output.isEmpty && told.talk.isEmpty)
        #expect(try reader.readToEnd() == Data("old\n".utf8))
        #expect(try String(contentsOf: file, encoding: .utf8) == shop.inspect("metrics").output)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["shop.prom"])
    }

    @Test func leavesTheOldFileWhereItCannotWrite() throws {
        let shop = try Shop()
        let missing = shop.inspect("metrics", "--output", "\(shop.directory.path)/none/shop.prom")
        #expect(missing.code == .failed && missing.talk.contains("No such file or directory"), "\(missing)")
        // What is no file stays what it is: as root a device could be replaced.
        let link = "\(shop.directory.path)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/dev/null")
        for path in [link, "/dev/null", shop.directory.path, "\(shop.directory.path)/"] {
            let told = shop.inspect("metrics", "--output", path)
            #expect(told.code == .failed && told.talk.contains("cannot write"), "\(path): \(told)")
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "/dev/null")
        #expect(
            try !FileManager.default.contentsOfDirectory(atPath: shop.directory.path).contains { $0.hasPrefix(".") })
    }

    /// The table of docs/metrics.md is that of the tool.
    @Test func isDocumented() throws {
        let document = try Package.text(of: "docs/metrics.md")
        let known =
            StoreMetrics.families.map { "`\($0.name)` | \($0.kind.rawValue)" }
            + CircuitMetrics.families.map { "`\($0.name)` | \($0.kind.rawValue)" }
        let told = document.split(separator: "\n").filter { $0.hasPrefix("| `breaker_") }
        #expect(told.count == known.count)
        for (line, family) in zip(told, known) { #expect(line.hasPrefix("| \(family) |"), "\(line)") }
    }
}

import BreakerStore
import BreakerTestSupport
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// The snippets of the article "Several tools, one quota" do what it says, as they stand.
@Suite(.serialized, .timeLimit(.minutes(10)), .ownDirectory) struct SeveralToolsTests {
    private static let circuit = Article.circuit

    private let article: Article

    init() throws { self.article = try Article(in: Workplace.here) }

    /// A block that is added to the article needs a test.
    @Test func eachBlockIsTried() throws {
        let tried: Set = [
            "profile", "ask.sh", "ask.py", "crontab", "Makefile", "unit", "before-tool", "after-tool", "before-call",
            "after-call",
        ]
        #expect(try Set(Article.blocks().keys) == tried)
    }

    @Test func theTableHasEachExitCode() throws {
        let text = try Package.text(of: Article.page)
        let rows = text.components(separatedBy: "## Exit codes")[1].split(separator: "\n")
        let codes = rows.compactMap { Int32($0.dropFirst(2).prefix { $0 != " " }) }
        #expect(Set(codes) == Set(Tool.program.exitCodes.map(\.code.rawValue) + [ExitCode.cutOff.rawValue]))
        #expect(codes == codes.sorted())
    }

    // MARK: - One provider

    private enum Client: String, CaseIterable {
        case shell
        case python
        case swift
    }

    private enum Answer {
        case good
        case quota
        case refused
    }

    /// Makes one call by curl, by Python's urllib or by a Swift service.
    private func call(_ client: Client, port: Int, by worker: WorkerProcess) async throws -> Answer? {
        let page = "http://127.0.0.1:\(port)/"
        let result: Child.Result
        switch client {
        case .shell: result = try await self.article.shell("./ask.sh '\(page)'")
        case .python:
            let program = "import sys, ask; sys.stdout.buffer.write(ask.ask(sys.argv[1]))"
            result = try await self.article.shell("PYTHONDONTWRITEBYTECODE=1 python3 -c '\(program)' '\(page)'")
        case .swift:
            let reply = try await worker.ask("http get \(Self.circuit) \(page)")
            if reply["status"] == "200" { return .good }
            if reply["bad"] == "429" { return .quota }
            return reply["retry-after"] == nil ? nil : .refused
        }
        switch result.code {
        case 0 where result.output == "the answer\n": return .good
        case 75 where result.output.isEmpty && result.talk.contains("refused: "): return .refused
        case _ where result.talk.contains("429"): return .quota
        case _:
            Issue.record("\(client): \(result)")
            return nil
        }
    }

    /// One 429 that one of the three gets refuses all three, for as long as the provider said; no call reaches it.
    @Test(arguments: Client.allCases) private func threeToolsShareOne429(first: Client) async throws {
        let here = try Workplace.here
        let script = Package.root.appendingPathComponent("Tests/Python/quota_service.py").path
        let provider = try here.start("/usr/bin/env", ["python3", script])
        let port = try #require(try await provider.ask("answer 429 3600").number("port"))
        let worker = try here.worker()
        try await worker.ask("open \(here.store) system-clock")
        try await worker.ask("breaker \(Self.circuit)")
        #expect(try await self.call(first, port: port, by: worker) == .quota)
        try await provider.ask("answer 200")
        for client in Client.allCases {
            #expect(try await self.call(client, port: port, by: worker) == .refused, "\(client)")
        }
        #expect(try await provider.ask("count").number("count") == 1)
        let store = try CircuitStore(path: here.store)
        defer { store.close() }
        guard case .open(let until) = try await store.circuit(named: Self.circuit)?.state else {
            Issue.record("the circuit is not open")
            return
        }
        #expect(until.timeIntervalSinceNow > 1_800)
        try await store.reset(Self.circuit)
        for client in Client.allCases {
            #expect(try await self.call(client, port: port, by: worker) == .good, "\(client)")
        }
        #expect(try await provider.ask("count").number("count") == 4)
        #expect(try await store.circuit(named: Self.circuit)?.state == .closed)
    }

    /// A provider that names no time, or none that is left, is believed for the recovery time of the circuit.
    @Test(arguments: ["429 0", "429 soon", "429"]) func a429WithoutATime(answer: String) async throws {
        let here = try Workplace.here
        let script = Package.root.appendingPathComponent("Tests/Python/quota_service.py").path
        let provider = try here.start("/usr/bin/env", ["python3", script])
        let port = try #require(try await provider.ask("answer \(answer)").number("port"))
        let worker = try here.worker()
        #expect(try await self.call(.python, port: port, by: worker) == .quota)
        #expect(try await self.call(.python, port: port, by: worker) == .refused)
        #expect(try await provider.ask("count").number("count") == 1)
    }

    // MARK: - Jobs

    @Test func aJobOfCron() async throws {
        let lines = try self.article.lines(of: "crontab")
        let settings = lines.dropLast().map { "export \($0)\n" }.joined()
        let line = try #require(lines.last)
        let command = line.split(separator: " ", maxSplits: 5).last.map(String.init) ?? ""
        // In a crontab a percent sign ends the line.
        #expect(line.hasPrefix("*/5 * * * * breaker-inspect ") && !line.contains("%"))
        let good = try await self.article.shell(settings + command)
        #expect(good.code == 0 && good.output.isEmpty && good.talk.isEmpty, "\(good)")
        #expect(try self.article.ran() == "ran \n")
        _ = try await self.article.shell("breaker-inspect record \(Self.circuit) outage=1h")
        let refused = try await self.article.shell(settings + command)
        #expect(refused.code == 75 && refused.output.isEmpty)
        #expect(refused.talk.hasPrefix("refused: open") && refused.talk.count { $0 == "\n" } == 1, "\(refused.talk)")
        #expect(try self.article.ran().isEmpty)
    }

    @Test func aJobOfMakeWaits() async throws {
        let setup = "echo what >a.question; breaker-inspect record \(Self.circuit) outage=1s\n"
        let result = try await self.article.shell(setup + "make -s a.answer; cat a.answer")
        #expect(result.output == "what\n", "\(result)")
        #expect(try self.article.ran() == "ran a.question\n")
        // A hold is not waited for; the next make tries again.
        let held = """
            rm a.answer; breaker-inspect hold open \(Self.circuit); make -s a.answer; echo "code $?"; ls a.answer
            breaker-inspect release \(Self.circuit) >&2; make -s a.answer; cat a.answer
            """
        let again = try await self.article.shell(held)
        #expect(again.output.hasSuffix("code 2\nwhat\n"), "\(again)")
        #expect(try self.article.ran() == "ran a.question\n")
    }

    /// What the unit and the hook that only reads do while `check --refusing` ends with a code.
    private func expectChecks(_ code: Int32, skip: Bool) async throws {
        let unit = try self.article.lines(of: "unit")
        func values(_ key: String) -> [String] {
            unit.filter { $0.hasPrefix(key + "=") }.map { String($0.dropFirst(key.count + 1)) }
        }
        let line = """
            breaker-inspect check --refusing \(Self.circuit); echo "check $?"
            ./before-tool; echo "hook $?"
            export \(values("Environment").joined(separator: " "))
            \(values("ExecCondition").joined()); echo "unit $?"
            """
        let result = try await self.article.shell(line)
        let codes = result.output.split(separator: "\n").filter { $0.contains(/^(check|hook|unit) \d+$/) }
        #expect(codes == ["check \(code)", "hook \(skip ? 2 : 0)", "unit \(skip ? 1 : 0)"], "\(result)")
    }

    @Test func onlyARefusalSkipsAUnit() async throws {
        let here = try Workplace.here
        try await self.expectChecks(1, skip: false)
        _ = try await self.article.shell("breaker-inspect run other -- true")
        try await self.expectChecks(4, skip: false)
        let unit = try self.article.lines(of: "unit")
        let start = try #require(unit.last { $0.hasPrefix("ExecStart=") }).dropFirst("ExecStart=".count)
        #expect(try await self.article.shell(String(start)).code == 0)
        #expect(try self.article.ran() == "ran \n")
        try await self.expectChecks(0, skip: false)

        let worker = try here.worker()
        try await worker.ask("open \(here.store) system-clock busy=0.05")
        try await worker.ask("breaker \(Self.circuit) failures=100")
        let holder = try LockHolder(here.store, ["BEGIN IMMEDIATE"])
        _ = try? await worker.ask("fail \(Self.circuit) 1")
        let wait = "until breaker-inspect check --refusing \(Self.circuit) 2>&3; test $? -eq 6; do sleep 0.02; done"
        _ = try await self.article.shell("exec 3>/dev/null; \(wait)")
        try await self.expectChecks(6, skip: false)
        withExtendedLifetime(holder) {}
        await worker.die()
    }

    @Test func aRefusalSkipsAUnit() async throws {
        _ = try await self.article.shell("breaker-inspect record \(Self.circuit) outage=1h")
        try await self.expectChecks(3, skip: true)
        // One that is due refuses nobody.
        _ = try await self.article.shell("breaker-inspect probe \(Self.circuit)")
        try await self.expectChecks(0, skip: false)
    }

    // MARK: - Hooks of agents

    @Test func aHookReportsWhatTheToolGot() async throws {
        for status in ["500", "404", "200", "503"] {
            #expect(try await self.article.shell("./after-tool \(status)").code == 0)
        }
        let store = try CircuitStore(path: Workplace.here.store)
        defer { store.close() }
        let circuit = try #require(try await store.circuit(named: Self.circuit))
        #expect(circuit.failureCount == 2)
        #expect(circuit.totals.failed == 2 && circuit.totals.succeeded == 1)
        for (words, least) in [("429 3600", 1_800.0), ("429", 0)] {
            #expect(try await self.article.shell("./after-tool \(words); exec ./before-tool").code == 2)
            guard case .open(let until) = try await store.circuit(named: Self.circuit)?.state else {
                Issue.record("\(words) opens nothing")
                continue
            }
            #expect(until.timeIntervalSinceNow > least)
            try await store.reset(Self.circuit)
        }
    }

    /// An agent is a process that runs a hook, makes its call, and runs the other hook.
    private static let agent = """
        cat >agent <<'END'
        ./before-call "$1"; echo "code $?" >>"$1"; : >"asked-$1"
        \(Child.until(#"[ -e "go-$1" ]"#))
        ./after-call "$1" success; echo "code $?" >>"$1"
        END
        asked() { \(Child.until(#"[ -e "asked-$1" ]"#)); }
        breaker-inspect record \(Article.circuit) outage=1h; breaker-inspect probe \(Article.circuit) >/dev/null

        """

    @Test func theProbeOfAnAgentIsTheOnlyOne() async throws {
        let line = """
            \(Self.agent)
            sh agent one & one=$!; asked one
            grep -qF ".$one." permit-one && echo "held by the agent"
            sh agent two & asked two; : >go-two; wait $!; cat two
            : >go-one; wait $one; cat one; ls permit-one; breaker-inspect check \(Self.circuit); echo "check $?"
            sh agent three & : >go-three; wait $!; cat three
            """
        let result = try await self.article.shell(line)
        let output = """
            held by the agent
            code 2
            code 1
            code 0
            code 0
            check 0
            code 0
            code 0

            """
        #expect(result.output == output, "\(result)")
    }

    @Test func theProbeOfAnAgentEndsWithIt() async throws {
        let line = """
            \(Self.agent)
            sh agent one & asked one; kill -9 $!; wait $!
            sh agent two & asked two; : >go-two; wait $!; cat one two; breaker-inspect check \(Self.circuit)
            """
        let result = try await self.article.shell(line)
        #expect(result.output == "code 0\ncode 0\ncode 0\n", "\(result)")
    }
}

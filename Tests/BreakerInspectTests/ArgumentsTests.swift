import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct ArgumentsTests {
    struct Wrong: Sendable, CustomTestStringConvertible {
        var line: [String]
        var talk: String
        var testDescription: String { String(self.line.joined(separator: " ").prefix(60)) }
    }

    static let wrong: [Wrong] = [
        .init(line: ["watch"], talk: "unknown verb 'watch'\nhint: did you mean 'list --watch'?"),
        .init(line: ["lst"], talk: "unknown verb 'lst'\nhint: did you mean 'list'?"),
        .init(
            line: ["frobnicate"], talk: "unknown verb 'frobnicate'\nhint: 'breaker-inspect help' shows what there is"),
        .init(
            line: ["a\u{1B}[2J"], talk: "unknown verb 'a\\u{1B}[2J'\nhint: 'breaker-inspect help' shows what there is"),
        .init(
            line: ["list", "--sotre", "x"],
            talk: "unknown option '--sotre' for 'list'\nhint: did you mean '--store'?"),
        .init(
            line: ["list", "--yes"],
            talk: "unknown option '--yes' for 'list'\nhint: 'breaker-inspect help list' shows what there is"),
        .init(
            line: ["list", "--store"],
            talk: "option '--store' needs a value\nhint: 'breaker-inspect help list' shows what there is"),
        .init(line: ["list", "--store="], talk: "the value of '--store' is empty\n"),
        .init(line: ["list", "--json=1"], talk: "option '--json' takes no value\n"),
        .init(
            line: ["list", "--color", "alwys"],
            talk: "option '--color' takes auto, always, never, not 'alwys'\nhint: did you mean 'always'?"),
        .init(line: ["list", "--state", "opne"], talk: "not 'opne'\nhint: did you mean 'open'?"),
        .init(line: ["list", "--state", "open,"], talk: "not ''\n"),
        .init(line: ["list"], talk: "no store is named\nhint: name its file with --store PATH, or in BREAKER_STORE"),
        .init(line: ["reset"], talk: "'reset' needs a circuit's name, a pattern, --group or --all\n"),
        .init(line: ["reset", "a", "--all"], talk: "'reset' takes names, --group or --all, only one of them\n"),
        .init(
            line: ["reset", "a", "--group", "g"], talk: "'reset' takes names, --group or --all, only one of them\n"),
        .init(
            line: ["reset", "--all", "--group", "g"],
            talk: "'reset' takes names, --group or --all, only one of them\n"),
        .init(
            line: ["list", String(repeating: "*", count: 50_001)],
            talk: "a pattern has 50000 bytes at most, not 50001\nhint: give several shorter ones"),
        .init(line: ["check", "a", String(repeating: "?", count: 60_000)], talk: "at most, not 60000\n"),
        .init(line: ["reset", "--yes", String(repeating: "[a]", count: 20_000)], talk: "at most, not 60000\n"),
        .init(line: ["show", "a", "--limit", "0"], talk: "option '--limit' takes a number above zero, not '0'\n"),
        .init(line: ["hold", "opne", "a"], talk: "hint: did you mean 'open'?"),
        .init(line: ["help", "a", "b"], talk: "'help' takes one verb\n"),
        .init(line: ["help", "rest"], talk: "unknown verb 'rest'\nhint: did you mean 'reset'?"),
    ]

    @Test(arguments: Self.wrong)
    func isRefusedWithOneHint(_ wrong: Wrong) {
        let console = RecordingConsole()
        let code = run(arguments: wrong.line, environment: ["BREAKER_STORE": ""], console: console)
        #expect(code == .usage)
        #expect(console.output.isEmpty)
        #expect(console.talk.hasPrefix("breaker-inspect: "))
        #expect(console.talk.contains(wrong.talk))
        #expect(console.talk.split(separator: "\n").count == 2)
    }

    static let unreadable = [
        "history --limit 0", "history --limit x", "history --since 1", "history --since h", "history --since -1h",
        "history --since 0s", "history --since 1e9d", "history --since infs", "history a b", "history --after x",
        "history --after -1", "history --after 1 --follow --limit 2", "show a --limit x", "show a --limit -1",
        "hold", "hold a", "hold open", "hold open a --for x", "hold open a --all", "wait a", "wait --for open",
        "wait a b --for open", "wait a --for opne", "wait a --for", "wait a --for open --timeout 5", "list --watch=0",
        "list --watch=x", "list --watch=-1", "list --watch=inf", "list --watch=nan", "list --watch=1s", "metrics a",
        "metrics --json", "metrics --max-circuits -1", "metrics --max-circuits many", "metrics --store =/x",
        "metrics --store x=", "metrics --store /x --store /x", "metrics --store a=/x --store a=/y",
    ]

    /// There is no store either: a line that the verb takes would end with another code.
    @Test(arguments: Self.unreadable) func isRefusedBeforeAStoreIsSearched(line: String) {
        let console = RecordingConsole()
        let words = line.split(separator: " ").map { String($0) }
        #expect(run(arguments: words, environment: ["BREAKER_STORE": "/nowhere/x.db"], console: console) == .usage)
        #expect(console.output.isEmpty)
        let talk = console.talk.split(separator: "\n")
        #expect(talk.count == 2 && talk.last?.hasPrefix("hint: ") == true, "\(talk)")
    }

    @Test func takesOptionsInAnyPlace() throws {
        let lines: [[String]] = [
            ["--store", "s", "list", "a", "--group=g"], ["list", "--group", "g", "--store=s", "a"],
            ["--group=g", "--store", "s", "list", "--", "a"],
        ]
        for line in lines {
            let arguments = try Arguments(line, of: Tool.program)
            #expect(arguments.verb?.name == "list")
            #expect(arguments.operands == ["a"])
            #expect(arguments[.store] == "s")
            #expect(arguments[.group] == "g")
        }
    }

    @Test func takesAllBehindTwoDashesAsOperands() throws {
        let arguments = try Arguments(["list", "--", "--json", "--", "-"], of: Tool.program)
        #expect(arguments.operands == ["--json", "--", "-"])
        #expect(!arguments.has(.json))
    }

    @Test func takesTheLastOfTwoValuesAndAValueThatLooksLikeAnOption() throws {
        let arguments = try Arguments(["reset", "a", "--reason=x", "--reason", "--as"], of: Tool.program)
        #expect(arguments[.reason] == "--as")
        #expect(!arguments.has(.asName))
    }

    @Test func withoutArgumentsItSaysWhatThereIs() {
        let console = RecordingConsole()
        #expect(run(arguments: [], environment: [:], console: console) == .usage)
        #expect(console.output.isEmpty)
        #expect(console.talk.hasPrefix("usage: breaker-inspect VERB"))
    }

    @Test func theFlagWinsOverTheEnvironment() throws {
        let shop = try Shop()
        try shop.circuit("a")
        let console = RecordingConsole()
        let code = run(
            arguments: ["list", "--store", shop.path], environment: ["BREAKER_STORE": "/nowhere/x.db"],
            console: console, clock: shop.clock)
        #expect(code == .done)
    }
}

@Suite struct SpellingTests {
    @Test(arguments: [
        ("lsit", "list"), ("lis", "list"), ("listt", "list"), ("lost", "list"), ("reest", "reset"), ("xyz", nil),
        ("l", nil), ("", nil),
    ])
    func findsTheNearest(word: String, nearest: String?) {
        #expect(Spelling.nearest(to: word, among: ["reset", "list", "help"]) == nearest)
    }
}

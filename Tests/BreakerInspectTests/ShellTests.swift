import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// The completions in real shells on real terminals: what stands on the line after Tab is what the tool gets.
@Suite(.timeLimit(.minutes(10))) struct ShellTests {
    /// The first two characters tell each from the others.
    static let hostile = [
        "q1 with space", "q2$(touch pwned)", "q3`touch pwned`", "q4'single", "q5\"double", "q6;touch pwned&",
        "q7*?[x]", "q8:colon:x", "q9=eq", "r1!bang!", "r2~x", "r3#hash", "r4\\backslash\\n", "r5{a,b}", "r6 trailing ",
        "r7é ünï", "r8&|<>()", "r9%s$HOME", "s1it''s", "s2@x^y", "s3ends'", "s4ends\"", "s5ends!", "s6-- a", "s7dir",
        "~t", "=l", "#h", "$(touch pwned)", "'s", "\"d", "-dash",
    ]

    private func shop() throws -> Shop {
        let shop = try Shop(clock: SystemHostClock())
        for name in Self.hostile { try shop.circuit(name, group: "a group") }
        // A shell could take the name for the directory's.
        let directory = shop.directory.appendingPathComponent("s7dir")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return shop
    }

    /// How the beginning of a name is typed without quotes and in both kinds of them.
    private func typed(_ name: String) -> [String] {
        guard let first = name.first, !first.isLetter else {
            let beginning = name.prefix(2)
            return ["\(beginning)", "'\(beginning)", "\"\(beginning)"]
        }
        switch first {
        case "'": return ["\\'", "\"'"]
        case "\"": return ["\\\"", "'\""]
        case "$": return ["\\$", "'$", "\"\\$"]
        case "-": return ["-", "'-", "\"-"]
        default: return ["\\\(first)", "'\(first)", "\"\(first)"]
        }
    }

    @Test(arguments: Shell.allCases) func completeHostileNames(shell: Shell) throws {
        let shop = try self.shop()
        let session = try ShellSession(shell, store: shop.path, in: shop.directory)
        for name in Self.hostile {
            // The tool would take it for an option.
            let end = name.hasPrefix("-") ? ["--"] : []
            for typed in self.typed(name) {
                let line = (["show"] + end + [typed]).joined(separator: " ") + "\t"
                let arguments = try session.arguments(line)
                #expect(arguments == ["show"] + end + [name], "\(typed)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: shop.directory.appendingPathComponent("pwned").path))
    }

    @Test(arguments: Shell.allCases) func completeWhatIsHalfTyped(shell: Shell) throws {
        let shop = try self.shop()
        try shop.circuit("w1 alpha")
        try shop.circuit("w1 beta")
        let other = try Shop(clock: SystemHostClock())
        try other.circuit("elsewhere")
        try "".write(to: shop.directory.appendingPathComponent("only file"), atomically: true, encoding: .utf8)
        let session = try ShellSession(shell, store: shop.path, in: shop.directory)
        let cases: [(String, [String])] = [
            ("doc\t", ["doctor"]), ("list --wat\t", ["list", "--watch"]), ("--js\tdoc\t", ["--json", "doctor"]),
            ("list --color ne\t", ["list", "--color", "never"]), ("list --color=ne\t", ["list", "--color=never"]),
            ("list --state half\t", ["list", "--state", "half-open"]),
            ("list --state open,half\t", ["list", "--state", "open,half-open"]),
            ("list --state=open,half\t", ["list", "--state=open,half-open"]),
            ("wait q1\t--for cl\t", ["wait", "q1 with space", "--for", "closed"]),
            ("hold cl\tq8\t", ["hold", "closed", "q8:colon:x"]),
            ("hold --for 2h op\t", ["hold", "--for", "2h", "open"]),
            ("list --group a\t", ["list", "--group", "a group"]), ("help wo\t", ["help", "workers"]),
            ("list q9\tq8\t", ["list", "q9=eq", "q8:colon:x"]), ("completions z\t", ["completions", "zsh"]),
            ("show q1\\ wi\t", ["show", "q1 with space"]), ("show q8:co\t", ["show", "q8:colon:x"]),
            ("show 'q8:co\t", ["show", "q8:colon:x"]), ("show w1\tal\t", ["show", "w1 alpha"]),
            ("--store '\(other.path)' show el\t", ["--store", other.path, "show", "elsewhere"]),
            ("show --store=\(other.path) el\t", ["show", "--store=\(other.path)", "elsewhere"]),
            ("--store onl\tdoc\t", ["--store", "only file", "doctor"]),
            ("--store=onl\tdoc\t", ["--store=only file", "doctor"]),
            // Nothing is known of these: what was typed stays.
            ("show q1\tq\t", ["show", "q1 with space", "q"]), ("show -d\t", ["show", "-d"]),
            ("lost q\t", ["lost", "q"]), ("--store /nowhere show q1\t", ["--store", "/nowhere", "show", "q1"]),
        ]
        for (typed, expected) in cases {
            let arguments = try session.arguments(typed)
            #expect(arguments == expected, "\(typed)")
        }
    }
}

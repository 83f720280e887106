import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// The manual page, as mandoc reads it.
@Suite(.timeLimit(.minutes(10))) struct ManualTests {
    private func read(_ line: String) throws -> Child.Result { try Child.shell(line, store: "/nowhere") }

    /// What is shown, in one line; mandoc prints a bold character twice, and a line below others.
    private static func plain(_ result: Child.Result) -> String {
        result.output.replacing(/.\u{8}/, with: "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test func hasNoFlaws() throws {
        let result = try self.read("\"$0\" help --man | mandoc -T lint -W warning")
        #expect(result.output.isEmpty)
        #expect(result.code == 0, "\(result.talk)")
    }

    @Test func showsAllThatTheHelpShows() throws {
        let page = Self.plain(try self.read("\"$0\" help --man | mandoc -T utf8 -O width=500"))
        for title in ["NAME", "SYNOPSIS", "ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO"] {
            #expect(page.contains(title))
        }
        func expect(_ text: String) {
            let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(page.contains(words), "\(words)")
        }
        for verb in Tool.verbs {
            expect("breaker-inspect \(verb.name) \(verb.synopsis)")
            expect(HelpText.sentence(verb.summary))
            if !verb.details.isEmpty { expect(verb.details) }
            for option in verb.options + Tool.program.commonOptions { expect("\(option.usage) \(option.help)") }
        }
        for (code, meaning) in Tool.program.exitCodes { expect("\(code.rawValue) \(meaning)") }
        for example in Tool.program.examples { expect(example) }
        for (name, help) in Tool.program.variables { expect("\(name) \(help)") }
    }

    /// Whatever a text has in it, it is shown as it is.
    @Test(arguments: [
        ".Sh TEXT", "'br", "a \\fBb\\e", "-x --y", "it's `so`", "\"Nm\"", "a. Nm b", "é … ~ ^", "a\n.b\n'c",
    ])
    func showsTextAsItIs(text: String) throws {
        for source in [Mdoc.lines(text), ".Ss \(Mdoc.argument(text.replacing("\n", with: " ")))\n"] {
            let page = ".Dd June 1, 2026\n.Dt X 1\n.Os\n.Sh NAME\n.Nm x\n.Nd y\n.Sh DESCRIPTION\n" + source
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("page-\(UUID().uuidString)")
            try page.write(to: folder, atomically: true, encoding: .utf8)
            defer { try? FileManager.default.removeItem(at: folder) }
            let shown = Self.plain(try self.read("mandoc -T utf8 '\(folder.path)'"))
            let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(shown.contains(words), "\(source) is shown as \(shown)")
        }
    }

    @Test func isOfTheWholeTool() throws {
        #expect(try self.read("\"$0\" help --man list").code == ExitCode.usage.rawValue)
    }
}

import BreakerStore
import BreakerTool
import Testing

@testable import breaker_inspect

@Suite struct HelpTests {
    private func inspect(_ arguments: String...) -> (code: ExitCode, output: String, talk: String) {
        let console = RecordingConsole()
        let code = run(arguments: arguments, environment: [:], console: console)
        return (code, console.output, console.talk)
    }

    @Test func showsEveryVerbAndItsOptions() {
        let long = self.inspect("help")
        #expect(long.code == .done)
        #expect(long.talk.isEmpty)
        #expect(self.inspect("--help").output == long.output)
        #expect(self.inspect("-h").output == long.output)
        for verb in Tool.verbs {
            #expect(long.output.contains("\n  \(verb.name) "))
            let help = self.inspect("help", verb.name)
            #expect(help.code == .done)
            #expect(help.output.hasPrefix("usage: breaker-inspect \(verb.name) "))
            for option in verb.options + Tool.program.commonOptions(of: verb) {
                let shown = option.isValueOptional ? "\(option.spelling)[=" : "\(option.spelling) "
                #expect(help.output.contains("  \(shown)"))
            }
            #expect(self.inspect(verb.name, "--help").output == help.output)
        }
    }

    /// How to turn a circuit off, and what that does to its numbers; the manual page has the same text.
    @Test func tellsOfTheOffSwitch() {
        let words = self.inspect("help", "hold").output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.contains("hold (open|closed) (PATTERN…|--group G|--all)"))
        #expect(words.contains("Its calls still count in the totals and in the metrics, but for no rule"))
        #expect(words.contains("No environment variable does this"))
        let page = ManualPage(of: Tool.program).text
        #expect(page.contains("but for no rule"))
    }

    @Test func fitsATerminal() {
        let help = HelpText(of: Tool.program)
        let texts = [help.short, help.long] + Tool.verbs.map { help.about($0) }
        for line in texts.flatMap({ $0.split(separator: "\n") }) { #expect(String(line).displayWidth <= 80) }
        #expect(help.about(WorkersVerb.self).hasPrefix("usage: breaker-inspect workers [OPTION…]\n"))
    }

    /// A page and the metrics have formats of their own.
    @Test(arguments: [MetricsVerb.name, ReportVerb.name]) func offersNothingThatIsRefused(verb: String) {
        #expect(!self.inspect("help", verb).output.contains("--json"))
        #expect(!self.inspect("help", verb, "--json").output.contains("--json"))
        #expect(self.inspect("help", ListVerb.name).output.contains("--json"))
    }

    @Test func showsItInJSON() {
        #expect(self.inspect("help", "reset", "--json").output.hasPrefix(#"{"verbs":[{"name":"reset","options":["#))
    }

    @Test func showsVersions() {
        let sqlite = Versions.sqlite
        #expect(
            self.inspect("--version").output
                == "breaker-inspect \(Tool.version) (schema \(Versions.schema), SQLite \(sqlite))\n")
        #expect(
            self.inspect("--version", "--json").output
                == #"{"schema":"3.0","sqlite":"\#(sqlite)","tool":"\#(Tool.version)","version":1}"# + "\n")
    }
}

import BreakerStore
import BreakerTestSupport
import Foundation
import Testing

@testable import breaker_inspect

private struct HTTPError: Error {}

/// What the README shows of the tool is what the tool prints, for the circuit whose config the README shows.
@Suite struct ReadmeTests {
    /// The commands of the blocks of a shell that begin with the tool's name, each with the lines below it.
    private static func samples(of readme: String) -> [(command: String, output: String)] {
        var samples: [(command: String, output: String)] = []
        for block in readme.components(separatedBy: "```console\n").dropFirst() {
            let lines = block.components(separatedBy: "```")[0].split(separator: "\n")
            for line in lines {
                if line.hasPrefix("$ ") {
                    samples.append((String(line.dropFirst(2)), ""))
                } else {
                    samples[samples.count - 1].output += line + "\n"
                }
            }
        }
        return samples.filter { $0.command.hasPrefix("breaker-inspect ") }
    }

    @Test func theToolPrintsWhatTheReadmeShows() throws {
        let clock = ManualHostClock()
        let shop = try Shop(clock: clock)
        let config = #"""
            .init(name: "users", recoveryTimeout: .seconds(30), maxFailures: 5, rollingWindow: .seconds(60))
            """#
        let readme = try Package.text(of: "README.md")
        #expect(readme.contains(config))
        let users = try shop.store.breaker(
            .init(name: "users", recoveryTimeout: .seconds(30), maxFailures: 5, rollingWindow: .seconds(60)))
        _ = try shop.store.breaker(.init(name: "mail"))
        for _ in 0..<5 { users.recordFailure(HTTPError()) }
        clock.advance(by: .seconds(12))
        let samples = Self.samples(of: readme)
        #expect(samples.count >= 3)
        for sample in samples {
            // What stands in quotes is one word.
            let parts = sample.command.components(separatedBy: " # ")[0].components(separatedBy: "\"")
            let words = parts.enumerated().flatMap { index, part in
                index % 2 == 1 ? [part] : part.split(separator: " ").map(String.init)
            }
            // All that follows a pipe is the word that a line must have.
            let word = words.contains("|") ? words.last : nil
            let arguments = Array(words.dropFirst().prefix { $0 != "|" })
            let console = RecordingConsole()
            console.width = 80
            let result = shop.inspect(arguments: arguments, on: console)
            let shown = result.output.split(separator: "\n")
                .filter { line in word.map { line.contains($0) } ?? true }
                .map { line in String(line.reversed().drop { $0 == " " }.reversed()) + "\n" }.joined()
            #expect(shown == sample.output, "\(sample.command): \(result.talk)")
        }
    }
}

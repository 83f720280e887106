import BreakerTool
import Foundation

@testable import breaker_inspect

/// A shell on a terminal that has read in the tool's completions, and in which a function of the tool's name keeps the
/// arguments that the tool would get.
final class ShellSession {
    private let terminal: Terminal
    private let kept: URL

    /// - Parameter directory: where the shell stands.
    init(_ shell: Shell, store: String, in directory: URL) throws {
        self.kept = directory.appendingPathComponent("kept")
        let bin = directory.appendingPathComponent("bin")
        try FileManager.default.createDirectory(at: bin, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: bin.appendingPathComponent("breaker-inspect"), withDestinationURL: Child.tool)
        let start = directory.appendingPathComponent(".zshrc")
        try Self.settings(of: shell).write(to: start, atomically: true, encoding: .utf8)
        let command =
            switch shell {
            case .bash: "bash --noprofile --rcfile .zshrc -i"
            case .zsh: "zsh -d -i"
            case .fish: "fish --private --no-config -i -C 'source .zshrc'"
            }
        let settings = "HOME=\"$PWD\" ZDOTDIR=\"$PWD\" PATH=\"$PWD/bin:$PATH\" LC_ALL=C.UTF-8"
        self.terminal = try Terminal(
            "cd '\(directory.path)' && \(settings) exec \(command)", store: store, columns: 150, rows: 50)
        try self.terminal.read(until: "READY ")
    }

    /// Types what follows the tool's name, and Enter; returns the arguments that the tool would get.
    func arguments(_ typed: String) throws -> [String] {
        try? FileManager.default.removeItem(at: self.kept)
        self.terminal.type("breaker-inspect \(typed)\r")
        try self.terminal.read(until: "<kept>")
        try self.terminal.read(until: "READY ")
        return try Data(contentsOf: self.kept).split(separator: 0, omittingEmptySubsequences: false).dropLast()
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private static func settings(of shell: Shell) -> String {
        let keep = "printf '%s\\0' \"$@\" >kept; printf '<%s>\\n' kept"
        switch shell {
        case .bash:
            return """
                PS1='READY '
                source <(command breaker-inspect completions bash)
                breaker-inspect() { \(keep); }

                """
        case .zsh:
            return """
                PS1='READY '
                autoload -Uz compinit
                compinit -D -u
                source <(command breaker-inspect completions zsh)
                breaker-inspect() { \(keep); }

                """
        case .fish:
            return """
                set -g fish_greeting
                function fish_prompt; printf 'READY '; end
                command breaker-inspect completions fish | source
                function breaker-inspect; \(keep.replacing("\"$@\"", with: "$argv")); end

                """
        }
    }
}

import BreakerStore
import BreakerTool
import Foundation

#if !BREAKERSTORE_FUZZ
@testable import breaker_inspect
#endif

/// One run of the tool, and what is promised of each.
struct ToolRun {
    private let arguments: [String]
    private let console: SilentConsole
    let code: ExitCode

    init(_ arguments: [String], on store: String, _ setUp: (SilentConsole) -> Void = { _ in }) {
        let clock = ManualHostClock()
        self.arguments = arguments
        self.console = SilentConsole(clock)
        setUp(self.console)
        self.code = run(
            arguments: arguments, environment: ["BREAKER_STORE": store], console: self.console, clock: clock)
    }

    /// Whether nothing that is on the disk may change.
    var isReading: Bool {
        guard let parsed = try? Arguments(self.arguments, of: Tool.program), !parsed.has(.help), !parsed.has(.version)
        else {
            return true
        }
        let verb = parsed.verb?.name ?? ""
        return !["reset", "hold", "release", "forget"].contains(verb) || parsed.has(.dryRun) || self.code == .usage
    }

    func check() throws {
        let parsed = try? Arguments(self.arguments, of: Tool.program)
        let verb = parsed?.verb?.name
        switch self.code {
        case .done, .failed, .noSuchCircuit: break
        case .declined: try self.require(self.console.canAsk, "nobody was asked")
        case .notClosed, .degraded: try self.require(verb == "check", "it does not check")
        case .usage: try self.require(self.console.output.isEmpty, "a wrong usage has output")
        case .timedOut: try self.require(verb == "wait", "it does not wait")
        case .cutOff: try self.require(false, "it has no link")
        default: try self.require(false, "nobody is in the way")
        }
        // What `doctor` and `check` find is data.
        if self.code != .done, verb != "doctor", verb != "check" {
            try self.require(!self.console.talk.isEmpty, "nothing tells why")
        }
        let isColored = self.console.output.utf8.contains(0x1B)
        try self.require(!isColored || self.console.outputIsTerminal || parsed?[.color] != nil, "a pipe got colors")
        for text in [self.console.output, self.console.talk] {
            try self.require(!text.utf8.contains { $0 < 0x20 && $0 != 0x0A && $0 != 0x1B }, "a control character")
        }
        if let parsed, parsed.has(.json), self.code == .done, !parsed.has(ListVerb.watch), verb != "history" {
            let data = Data(self.console.output.utf8)
            try self.require((try? JSONSerialization.jsonObject(with: data)) != nil, "no JSON")
        }
    }

    private func require(_ isKept: Bool, _ promise: String) throws {
        guard !isKept else { return }
        throw Violation(
            "\(promise): \(self.arguments) ended with \(self.code), wrote\n"
                + "\(self.console.output)\n\(self.console.talk)")
    }
}

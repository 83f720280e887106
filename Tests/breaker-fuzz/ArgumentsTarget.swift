@testable import BreakerStore

#if !BREAKERSTORE_FUZZ
@testable import breaker_inspect
#endif

/// The tool's command line.
///
/// The first byte of the input is the console, the others are the arguments, each ended by a zero byte.
struct ArgumentsTarget: Target {
    private let scratch: Scratch
    private let sample: SampleStore

    init(_ scratch: Scratch) throws {
        self.scratch = scratch
        self.sample = try SampleStore(in: scratch)
    }

    func feed(_ bytes: [UInt8]) throws {
        let choices = bytes.first ?? 0
        var arguments = bytes.dropFirst().split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        // A path may lead to any file of this machine, and `run` would execute any program.
        guard !arguments.contains(where: { $0.contains("/") }), !arguments.contains("run") else { return }
        // Without a time-out the tool would wait for ever, as it should; the last value of an option counts.
        if arguments.contains("wait") { arguments = ["--timeout", "10s"] + arguments }
        let files = ["": self.sample.database, "-lock": LockFile.magic]
        try self.scratch.place(files)
        let tool = ToolRun(arguments, on: self.scratch.store) { console in
            console.outputIsTerminal = choices & 1 != 0
            console.canAsk = choices & 2 != 0
            console.answer = choices & 4 != 0 ? "y" : nil
            console.width = choices & 1 != 0 ? Int(choices >> 3) * 8 : nil
        }
        try tool.check()
        if tool.isReading { try self.scratch.requireUntouched(files) }
        try self.scratch.requireNothingTemporary()
    }

    var seeds: [[UInt8]] {
        let lines: [(UInt8, [String])] = [
            (0, []), (0, ["list", "--json"]), (81, ["list", "--watch=5", "--color", "always"]),
            (0, ["list", "m*", "--state", "open,held", "--group=shop"]), (0, ["show", "mail", "--json"]),
            (0, ["check", "users", "late"]), (0, ["wait", "mail", "--for", "open", "--timeout", "1.5h"]),
            (6, ["reset", "users", "--reason", "fixed", "--as", "bob"]), (0, ["reset", "--all", "--dry-run"]),
            (0, ["hold", "mail", "closed", "--for", "90s", "--yes"]), (0, ["release", "late", "--yes", "--json"]),
            (2, ["forget", "--exact", "--", "a\u{301} [x]*"]), (0, ["history", "users", "--json", "--limit", "3"]),
            (0, ["history", "--follow"]), (0, ["workers"]), (0, ["doctor", "--json"]), (0, ["help", "hold"]),
            (0, ["--version"]), (0, ["lst"]), (0, ["list", "--store", "other.db"]),
        ]
        return lines.map { [$0.0] + Array($0.1.joined(separator: "\0").utf8) }
    }
}

import BreakerTestSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One run of the tool in a process of its own, and how it ended.
struct ToolRun {
    private static let maxMemory = 64 << 20

    private static let maxRead = 1 << 20

    /// Any document.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) {}
    }

    let words: [String]
    /// The exit code, or a signal's number below zero.
    let code: Int32
    private let isHung: Bool
    private let memory: Int
    /// The beginning of what it wrote, on both streams.
    let said: String
    private let isValidJSON: Bool

    /// - Parameters:
    ///   - words: the verb and its arguments.
    ///   - launcher: the words of a command that runs it.
    init(
        _ words: [String], in place: HostilePlace, temporary: String? = nil, through launcher: [String],
        by runner: WorkerProcess
    ) async throws {
        let talk = place.directory + ".talk"
        defer { Directory.remove(talk) }
        let command = launcher + [BuiltProgram.path(of: "breaker-inspect")] + words
        let line = [talk, place.path, temporary ?? place.temporary] + command
        let reply = try await runner.ask("run " + line.joined(separator: "\t"))
        self.words = words
        self.code = Int32(reply.number("code") ?? 0)
        self.isHung = reply.number("hung") == 1
        self.memory = reply.number("memory") ?? 0
        let bytes = FileBytes.read(talk, atMost: Self.maxRead) ?? []
        self.said = String(decoding: bytes.prefix(8_000), as: UTF8.self)
        let isDocument = self.code == 0 && words.contains("--json") && bytes.count < Self.maxRead
        self.isValidJSON = !isDocument || (try? JSONDecoder().decode(Anything.self, from: Data(bytes))) != nil
    }

    /// What must not be, whatever the file holds.
    var problems: [String] {
        let what = "'\(self.words.joined(separator: " "))'"
        if self.isHung { return ["\(what) hung"] }
        var problems: [String] = []
        if self.code < 0 { problems.append("\(what) died of signal \(-self.code)") }
        if self.code >= 0, !self.documented.contains(self.code) { problems.append("\(what) ended with \(self.code)") }
        if self.memory > Self.maxMemory { problems.append("\(what) took \(self.memory >> 20) MB") }
        if !self.isValidJSON { problems.append("\(what) printed what is no JSON") }
        return problems
    }

    var megabytes: Int { self.memory >> 20 }

    /// What the help says that the verb ends with: done, failed, and busy, and what some verbs have beside these.
    private var documented: [Int32] {
        switch self.words.first {
        case "check": [0, 1, 3, 6, 75]
        case "show", "reset", "hold", "release", "forget": [0, 1, 4, 75]
        default: [0, 1, 75]
        }
    }
}

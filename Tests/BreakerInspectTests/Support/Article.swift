import BreakerTestSupport
import Foundation
import Testing

/// The article "Several tools, one quota" in a directory where its snippets run as they stand.
///
/// Only the path of the store and `PATH` are others, and the programs of the reader are stand-ins.
struct Article {
    static let page = "Sources/BreakerStore/Documentation.docc/SeveralToolsOneQuota.md"
    static let circuit = "acme/team-7/large"

    let directory: String
    let store: String
    private let blocks: [String: String]

    /// Writes the snippets into a directory, each as the file that `name(of:in:)` says.
    init(in place: Workplace) throws {
        self.directory = place.directory
        self.store = place.store
        self.blocks = try Self.blocks()
        try FileManager.default.createDirectory(atPath: self.directory + "/bin", withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: self.directory + "/bin/breaker-inspect", withDestinationPath: Child.tool.path)
        for (name, text) in self.blocks { try self.write(text, to: name) }
        // What the reader's program does: it appends its words to a file, and prints its input's file if it has one.
        try self.write("#!/bin/sh\necho \"ran $*\" >>\"$OUT\"\ntest -z \"$1\" || cat \"$1\"\n", to: "bin/sync-orders")
    }

    /// The fenced blocks of the page, by the names of the files that they are.
    static func blocks() throws -> [String: String] {
        var blocks: [String: String] = [:]
        var open: (language: String, lines: [String])?
        for line in try Package.text(of: Self.page).components(separatedBy: "\n") {
            if let block = open {
                guard line == "```" else {
                    open?.lines.append(line)
                    continue
                }
                let text = block.lines.joined(separator: "\n") + "\n"
                let name = try Self.name(of: block.language, text)
                #expect(blocks[name] == nil, "two blocks are '\(name)'")
                blocks[name] = text
                open = nil
            } else if line.hasPrefix("```") {
                open = (String(line.dropFirst(3)), [])
            }
        }
        return blocks
    }

    /// The second line of a script begins with its name.
    private static func name(of language: String, _ text: String) throws -> String {
        let lines = text.split(separator: "\n")
        switch language {
        case "sh" where lines.count == 1: return "profile"
        case "sh": return String(try #require(lines[1].dropFirst(2).split { $0 == " " || $0 == ":" }.first))
        case "python": return "ask.py"
        case "cron": return "crontab"
        case "make": return "Makefile"
        case "systemd": return "unit"
        default: throw SystemError("name a block of \(language)")
        }
    }

    private func write(_ text: String, to name: String) throws {
        let text = text.replacingOccurrences(of: "/var/lib/acme/breakers.db", with: self.store)
            .replacingOccurrences(of: "/usr/local/bin", with: self.directory + "/bin")
        let path = self.directory + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        if text.hasPrefix("#!") {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
    }

    /// The lines of a snippet.
    func lines(of name: String) throws -> [String] {
        try String(contentsOfFile: self.directory + "/" + name, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Runs a line of a shell in the directory of the snippets.
    ///
    /// The store's path is that of the block that sets it, unless the line sets another one.
    func shell(_ line: String) async throws -> Child.Result {
        let setup = """
            cd '\(self.directory)'; export PATH="$PWD/bin:$PATH" OUT="$PWD/out" HOME="$PWD"; unset XDG_RUNTIME_DIR
            . ./profile

            """
        return try await Child.shellAside(setup + line, store: "")
    }

    /// What the stand-in for `sync-orders` was called with since the last time, a line each.
    func ran() throws -> String {
        let path = self.directory + "/out"
        defer { try? FileManager.default.removeItem(atPath: path) }
        return (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}

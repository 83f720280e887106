import BreakerStore
import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// What is no store is told in one line, and left as it is.
@Suite struct BadStoreTests {
    enum Kind: String, CaseIterable {
        case missing
        case missingDirectory
        case directory
        case empty
        case text
        case stranger
        case newerMajor
    }

    static let reasons: [Kind: String] = [
        .missing: ": no such file\n",
        .missingDirectory: ": no such file\n",
        .directory: ": it is a directory\n",
        .empty: ": it holds no store yet\n",
        .text: ": it is not an SQLite database, so not a store of circuits\n",
        .stranger: ": it is the database of another program, so not a store of circuits\n",
        .newerMajor: ": the file has schema 4.0, this program knows up to 3.x\n",
    ]

    @Test(
        arguments: Kind.allCases,
        ["list", "reset a", "reset --all --yes", "doctor", "wait a --for open", "list --watch", "history --follow"])
    func isReportedAndLeftAlone(kind: Kind, line: String) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("inspect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = try Self.make(kind, in: directory)
        let before = try Self.contents(of: directory)
        let console = RecordingConsole()
        let code = run(
            arguments: line.split(separator: " ").map { String($0) } + ["--store", path], environment: [:],
            console: console)
        #expect(code == .failed)
        #expect(try Self.contents(of: directory) == before)
        if line == "doctor", [.missing, .missingDirectory, .empty, .text, .stranger].contains(kind) {
            #expect(console.talk.isEmpty)
            #expect(console.output.contains(#/(?:^|\n)file +wrong  /#))
            return
        }
        #expect(console.output.isEmpty)
        let reason = try #require(Self.reasons[kind])
        #expect(console.talk.hasPrefix("breaker-inspect: cannot open '\(path)'\(reason)hint: "))
        #expect(console.talk.split(separator: "\n").count == 2)
    }

    /// What to do is the hint, wherever a path has a semicolon.
    @Test func aPathMayHoldWhatStandsBetweenReasonAndAdvice() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("a; b-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.path + "/loop"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "loop")
        let console = RecordingConsole()
        let code = run(arguments: ["list", "--store", path], environment: [:], console: console)
        #expect(code == .failed)
        let lines = console.talk.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasPrefix("breaker-inspect: cannot resolve '\(path)': ") == true, "\(lines)")
        #expect(lines.last == "hint: name the file itself")
    }

    /// The commands that change circuits open the store so that nothing is migrated, of a minor version either.
    @Test func mayNotMigrate() throws {
        let arguments = try Arguments(["reset", "a", "--store", "x.db"], of: Tool.program)
        let context = try Context(arguments, environment: [:], console: RecordingConsole(), clock: SystemHostClock())
        #expect(context.configuration(.existing).migration == .never)
    }

    /// Services of an older release may use the file: no command of an operator migrates it.
    @Test(
        arguments: ["2.0", "2.1"],
        [
            "reset open", "reset --all --yes", "hold open closed", "release held-open", "hold closed open",
            "forget closed --yes",
        ])
    func anOlderFileIsNotMigrated(version: String, line: String) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("inspect-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appendingPathComponent("x.db").path
        try Shop.make(version, at: path)
        let before = try Self.contents(of: directory)
        let console = RecordingConsole()
        let code = run(
            arguments: line.split(separator: " ").map { String($0) } + ["--store", path], environment: [:],
            console: console)
        #expect(code == .failed)
        #expect(console.output.isEmpty)
        #expect(console.talk.hasPrefix("breaker-inspect: cannot open '\(path)': the file has schema \(version), "))
        #expect(console.talk.contains("\nhint: open it once with a process of this release"), "\(console.talk)")
        #expect(try Self.contents(of: directory) == before)
    }

    private static func make(_ kind: Kind, in directory: URL) throws -> String {
        let path = directory.appendingPathComponent("x.db").path
        switch kind {
        case .missing: break
        case .missingDirectory: return directory.path + "/nowhere/x.db"
        case .directory: return directory.path
        case .empty: try Data().write(to: URL(fileURLWithPath: path))
        case .text:
            try Data(String(repeating: "not a database ", count: 500).utf8).write(to: URL(fileURLWithPath: path))
        case .stranger:
            try Shop.sqlite(path, "CREATE TABLE t (a); PRAGMA application_id = 7;")
        case .newerMajor:
            let shop = try Shop()
            shop.store.close()
            try FileManager.default.moveItem(atPath: shop.path, toPath: path)
            try Shop.sqlite(path, "PRAGMA user_version = 4000;")
        }
        return path
    }

    private static func contents(of directory: URL) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: directory.appendingPathComponent($0))) })
    }

    /// An older program goes on with a file that a newer one has migrated: minor versions only add.
    @Test func worksWithALaterMinorVersion() throws {
        let shop = try Shop()
        try shop.fillWithStates()
        shop.store.close()
        try Shop.sqlite(
            shop.path,
            """
            CREATE TABLE later (id INTEGER PRIMARY KEY, what TEXT NOT NULL) STRICT;
            INSERT INTO later VALUES (1, 'x');
            INSERT INTO event (circuit, kind, at) VALUES ('b open', 'laterKind', 1);
            PRAGMA user_version = 3001;
            """)
        let list = shop.inspect("list")
        #expect(list.code == .done)
        #expect(list.output.split(separator: "\n").count == 5)
        #expect(shop.inspect("show", "b open").output.contains("tripped"))
        #expect(shop.inspect("reset", "b open").output == "b open  open -> closed\n")
        #expect(shop.inspect("release", "d held open").code == .done)
        #expect(shop.inspect("forget", "e held closed", "--yes").code == .done)
        #expect(shop.inspect("doctor").code == .done)
        let left = try Child.shell(
            "exec python3 -c 'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); print(c.execute(sys.argv[2]).fetchone())' "
                + "\"$BREAKER_STORE\" \"SELECT count(*), (SELECT count(*) FROM later) FROM circuit\"",
            store: shop.path)
        #expect(left.output == "(3, 1)\n")
    }
}

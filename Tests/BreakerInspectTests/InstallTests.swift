import BreakerTool
import Foundation
import Testing

@testable import breaker_inspect

/// `make install` and `make uninstall`, of programs that are built already.
@Suite(.timeLimit(.minutes(10))) struct InstallTests {
    private static let files = [
        "bin/breaker-inspect", "share/bash-completion/completions/breaker-inspect",
        "share/fish/vendor_completions.d/breaker-inspect.fish", "share/man/man1/breaker-inspect.1",
        "share/zsh/site-functions/_breaker-inspect",
    ]

    private func make(_ target: String, into root: String, _ programs: String = "PROGRAM=\"$0\"") throws -> Child.Result
    {
        let line = "make -s -C '\(Package.root.path)' \(target) \(programs) PREFIX=/opt/x DESTDIR=\"$BREAKER_STORE\""
        return try Child.shell(line, store: root)
    }

    private func files(in root: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []
        var isFolder: ObjCBool = false
        return all.filter {
            unsafe FileManager.default.fileExists(atPath: "\(root)/\($0)", isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    @Test func putsAllInPlaceAndTakesItAway() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("a root \(UUID().uuidString)")
        let zsh = folder.appendingPathComponent("opt/x/share/zsh/site-functions")
        try FileManager.default.createDirectory(at: zsh, withIntermediateDirectories: true)
        try "".write(to: zsh.appendingPathComponent("_other"), atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = "opt/x/share/zsh/site-functions/_other"

        // A second time over the first, as an upgrade does.
        for _ in 0..<2 {
            let installed = try self.make("install", into: folder.path)
            #expect(installed.code == 0, "\(installed.talk)")
            #expect(self.files(in: folder.path) == (Self.files.map { "opt/x/\($0)" } + [other]).sorted())
        }
        for shell in Shell.allCases {
            let file = Self.files.first { $0.contains(shell.rawValue) } ?? ""
            let text = try String(contentsOf: folder.appendingPathComponent("opt/x/\(file)"), encoding: .utf8)
            #expect(text == shell.script(for: Tool.name))
        }
        let program = "\(folder.path)/opt/x/bin/breaker-inspect"
        let ran = try Child.shell("'\(program)' --version; ls -l '\(folder.path)/opt/x/share/man/man1'", store: "")
        #expect(ran.output.hasPrefix("breaker-inspect \(Tool.version) "))
        #expect(ran.output.contains("-rw-r--r--"))

        let removed = try self.make("uninstall", into: folder.path)
        #expect(removed.code == 0, "\(removed.talk)")
        #expect(self.files(in: folder.path) == [other])
        #expect(try self.make("uninstall", into: folder.path).code == 0)
    }

    #if PostgreSQL
    /// The program that joins hosts lies beside the tool.
    @Test func putsBothProgramsInPlace() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("a root \(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let installed = try self.make(
            "install", into: folder.path, "PROGRAM=\"$0\" FLEET_PROGRAM=\"$(dirname \"$0\")/breaker-fleet\"")
        #expect(installed.code == 0, "\(installed.talk)")
        let fleet = Self.files.map { $0.replacing("breaker-inspect", with: "breaker-fleet") }
        #expect(self.files(in: folder.path) == (Self.files + fleet).map { "opt/x/\($0)" }.sorted())
        let line = "'\(folder.path)/opt/x/bin/breaker-fleet' --version; mandoc -T lint -W warning"
        let ran = try Child.shell("\(line) '\(folder.path)/opt/x/share/man/man1/breaker-fleet.1'", store: "")
        #expect(ran.output.hasPrefix("breaker-fleet \(Tool.version) "))
        #expect(ran.code == 0, "\(ran.output)")
        #expect(try self.make("uninstall", into: folder.path).code == 0)
        #expect(self.files(in: folder.path).isEmpty)
    }
    #endif

    /// zsh finds the function in its folder, and bash reads the file in as it is.
    @Test func anInstalledScriptWorks() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("root-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        #expect(try self.make("install", into: folder.path).code == 0)
        let share = "\(folder.path)/opt/x/share"
        let line = """
            cd '\(share)' && PATH="\(folder.path)/opt/x/bin:$PATH" HOME="$PWD" exec zsh -f -i
            """
        let terminal = try Terminal(line, store: "/nowhere", columns: 150)
        terminal.type("PS1='RE''ADY '; fpath=($PWD/zsh/site-functions $fpath); autoload -Uz compinit; compinit -D -u\r")
        try terminal.read(until: "READY ")
        terminal.type("breaker-inspect help doc\t| head -1\r")
        try terminal.read(until: "usage: breaker-inspect doctor")
        terminal.type("exit\r")
        _ = try terminal.end()
    }
}

import Foundation
import Testing

/// Each target of `make` installs what it needs, and no more.
@Suite(.timeLimit(.minutes(10))) struct SetupTests {
    /// What a target misses on a machine that has Swift, SQLite's headers and pkg-config, and can install nothing.
    private func missing(for target: String) throws -> [String] {
        let machine = FileManager.default.temporaryDirectory.appendingPathComponent("machine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: machine, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: machine) }
        let made = """
            printf '#!/bin/sh\\necho Swift version 6.2\\n' >swift
            printf '#!/bin/sh\\ncase $* in *sqlite3*) ;; *) exit 1 ;; esac\\n' >pkg-config
            chmod +x swift pkg-config
            for program in sed head uname id; do ln -s "$(command -v $program)" .; done
            """
        let ran = try Child.shell(
            """
            cd '\(machine.path)' || exit
            \(made)
            machine=$PWD
            cd '\(Package.root.path)' || exit
            make -n \(target) | grep '^scripts/setup.sh' | while read -r line; do PATH=$machine $line 2>&1; done
            """, store: "")
        let packages = ran.output.split(separator: "\n").flatMap { line in
            line.components(separatedBy: "missing (by their names on Debian):").dropFirst()
                .flatMap { $0.split(separator: " ").map(String.init) }
        }
        // Nothing is said where nothing is missing, and nothing else went wrong.
        #expect(ran.output.isEmpty == packages.isEmpty, "\(ran.output)\(ran.talk)")
        // Looked for in fixed places, too: this machine may have them.
        let others: Set = ["e2fsprogs", "btrfs-progs", "xfsprogs", "postgresql"]
        return Set(packages).subtracting(others).sorted()
    }

    /// Whoever looks at the demo has not asked for shells, manual pages and file systems.
    @Test(arguments: ["demo", "bench", "docs", "deb", "fuzz", "trait-check"])
    func whatOnlyBuildsNeedsNothingElse(target: String) throws {
        #expect(try self.missing(for: target) == [])
    }

    @Test(arguments: ["lint", "upgrade", "prometheus", "browser", "bench-inspect", "api", "api-check"])
    func programsInPythonNeedPython(target: String) throws {
        #expect(try self.missing(for: target) == ["python3"])
    }

    @Test func theDemoOfAFleetNeedsPostgreSQL() throws {
        #expect(try self.missing(for: "demo-fleet") == ["libpq-dev"])
    }

    @Test(arguments: ["test", "coverage", "mutants", "tsan"])
    func testsNeedTheShellsThatTheyTry(target: String) throws {
        #if os(Linux)
        let ofLinux = ["util-linux"]
        #else
        let ofLinux: [String] = []
        #endif
        let tools = ["bash", "curl", "fish", "make", "mandoc", "python3"] + ofLinux + ["zsh"]
        #expect(try self.missing(for: target) == tools)
    }

    @Test func anUnknownPurposeIsRefused() throws {
        let ran = try Child.shell("cd '\(Package.root.path)' && scripts/setup.sh build everything", store: "")
        #expect(ran.code == 64)
        #expect(ran.talk.hasPrefix("setup: there is no purpose 'everything'; there are: build python "), "\(ran.talk)")
    }
}

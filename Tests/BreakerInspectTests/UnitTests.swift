import Foundation
import Testing

/// The units of systemd: the journal must have why one failed; `scripts/deb-check.sh` runs their command lines.
@Suite struct UnitTests {
    /// The levels of syslog, the gravest first, as systemd names them.
    private static let levels = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"]

    @Test(arguments: ["breaker-metrics", "breaker-fleet"])
    func theJournalKeepsWhatTheProgramSays(unit: String) throws {
        let lines = try Package.text(of: "packaging/systemd/\(unit).service").split(separator: "\n")
        func level(_ key: String, otherwise: String) throws -> Int {
            let word = lines.first { $0.hasPrefix("\(key)=") }?.dropFirst(key.count + 1) ?? otherwise[...]
            return try #require(Self.levels.firstIndex(of: String(word)))
        }
        let spoken = try level("SyslogLevel", otherwise: "info")
        #expect(spoken <= (try level("LogLevelMax", otherwise: "debug")))
        // journalctl -p warning shows it.
        #expect(Self.levels[spoken] == "warning")
    }

    /// What the documentation of the package refers to.
    @Test(arguments: ["metrics.md", "alerts.yml", "dashboard.json", "breaker-inspect.schema.json"])
    func thePackageHasTheFile(name: String) throws {
        #expect(try Package.text(of: "packaging/debian/breaker-inspect/README.Debian").contains(name))
        let script = try Package.text(of: "scripts/deb.sh")
        #expect(script.split(separator: "\n").contains { $0.contains("do put") && $0.contains(name) })
        #expect(try !Package.text(of: "docs/\(name)").isEmpty)
    }
}

import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension TornCase {
    /// Damages the store, lets a process open it, and says what must not be.
    func run(in directory: String, _ opener: WatchedWorker, _ report: Report) async throws -> [String] {
        if self.isLive { return try await self.runLive(in: directory, opener, report) }
        let files = try self.store.write(to: directory, self.damage)
        let expected = try self.recoveredBySQLite(directory + "-plain")
        let use = await opener.ask("\(Self.open(directory)) ; took ; use-damaged")
        // It may have failed with the store open.
        if !opener.hasEnded, case .violation(let what) = await opener.ask("close") { return [what] }
        switch use {
        case .done(let reply):
            report.raise((reply.number("slowest") ?? 0) / 1_000, "ms for the slowest opening")
            return self.judge(directory, files, expected, report)
        case .refused(let code, let message):
            return self.judgeRefusal(directory, files, expected, code, message, report)
        case .violation(let what):
            return [what]
        }
    }

    private static func open(_ directory: String) -> String { "open \(directory)/a.db first-retry=1" }

    // MARK: - What came of it

    private func judge(
        _ directory: String,
        _ files: [Damage.File: [UInt8]],
        _ expected: Recovered,
        _ report: Report
    ) -> [String] {
        let found = Recovered(directory + "/a.db")
        var problems = found.problems.prefix(1).map {
            "integrity: \($0.split(separator: "\n").prefix(3).joined(separator: ", "))"
        }
        let names = Directory.names(in: directory)
        guard let kept = names.first(where: { $0.hasPrefix("a.db.corrupt-") }) else {
            report.add(1, "recovered")
            let lost = found.lost(of: expected)
            if expected.isWhole, !lost.isEmpty { problems.append("it has lost \(lost.count) rows: \(lost.prefix(3))") }
            return problems
        }
        report.add(1, "quarantined")
        if expected.isWhole, expected.schema == self.store.schema {
            problems.append("it was set aside, but SQLite finds nothing wrong with it")
        }
        if !FileBytes.areEqual(FileBytes.read("\(directory)/\(kept)"), files[.database]) {
            problems.append("\(kept) has other bytes than the database had")
        }
        let keptLog = names.first { $0.hasPrefix("a.db-wal.") }
        if !FileBytes.areEqual(keptLog.flatMap { FileBytes.read("\(directory)/\($0)") }, files[.log]) {
            problems.append("\(keptLog ?? "no file") has other bytes than the log had")
        }
        return problems
    }

    /// A file that says that it is somebody else's, or of a later version, or has other tables, is left as it is.
    private func judgeRefusal(
        _ directory: String,
        _ files: [Damage.File: [UInt8]],
        _ expected: Recovered,
        _ code: String,
        _ message: String,
        _ report: Report
    ) -> [String] {
        report.add(1, "refused")
        let isLawful = expected.isRefusedLawfully(code, insteadOf: self.store.schema)
        var problems = isLawful ? [] : ["it was refused: \(message)"]
        // Who looks at the tables makes the log's index anew.
        let kept = files.filter { code != "foreignSchema" || $0.key != .index }
        for (file, bytes) in kept where !FileBytes.areEqual(FileBytes.read("\(directory)/\(file.rawValue)"), bytes) {
            problems.append("\(file.rawValue) was refused, and changed")
        }
        let others = Directory.names(in: directory).filter { name in
            name != "a.db-lock" && !Damage.File.allCases.contains { $0.rawValue == name }
        }
        if !others.isEmpty { problems.append("it was refused, and there are \(others)") }
        return problems
    }

    private func recoveredBySQLite(_ directory: String) throws -> Recovered {
        guard unsafe mkdir(directory, 0o700) == 0 else { throw SystemError("make \(directory)") }
        defer { Directory.remove(directory) }
        _ = try self.store.write(to: directory, self.damage)
        return Recovered(directory + "/a.db")
    }

    // MARK: - While it is open

    private func runLive(in directory: String, _ opener: WatchedWorker, _ report: Report) async throws -> [String] {
        let files = try self.store.write(to: directory, nil)
        let holding = await opener.ask("\(Self.open(directory)) ; use-damaged")
        guard case .done = holding else { return ["the whole store can't be opened: \(holding)"] }
        let path = "\(directory)/\(self.damage.file.rawValue)"
        // It has gone on since.
        let now = FileBytes.read(path) ?? files[self.damage.file, default: []]
        var damaged = now
        self.damage.apply(to: &damaged)
        try FileBytes.overwrite(path, from: now, to: damaged)
        let use = await opener.ask("use-damaged")
        guard !opener.hasEnded else { return ["\(use)"] }
        let leaving = await opener.ask("close")
        var problems: [String] = []
        if case .violation(let what) = use { problems.append(what) }
        if case .violation(let what) = leaving { problems.append(what) }
        let kept = Directory.names(in: directory).first { $0.hasPrefix("a.db.corrupt-") }
        report.add(1, kept == nil ? "survived" : "quarantined")
        let found = Recovered(directory + "/a.db")
        if case .refused(let code, _) = use, !found.isRefusedLawfully(code, insteadOf: self.store.schema) {
            problems.append("\(use)")
        }
        return problems
    }
}

import BreakerTestSupport

extension HostileCase {
    private static let verbsOfMany = 3

    /// Has the tool and a service meet the files; says what must not be.
    ///
    /// - Parameter number: chooses the verbs that do not all have their turn.
    func run(
        _ number: Int, in directory: String, _ victim: WatchedWorker, _ runner: WorkerProcess, _ report: Report
    ) async throws -> [String] {
        let place = try HostilePlace(directory)
        defer { place.clear() }
        do {
            try self.place(place)
        } catch is NotWritable {
            report.add(1, "not writable")
            return []
        }
        let outside = Directory.names(in: directory)
        let attached = FileBytes.read(place.attached)
        let (runs, changes) = try await self.read(number, place, runner, report)
        var problems = runs.flatMap(\.problems) + changes
        if !self.isLarge { problems += try await self.write(number, directory + "-copy", runner, report) }
        problems += try await self.visit(place, victim, report)
        if self.strike != nil || self.isLarge { problems += try await self.change(number, place, runner, report) }
        problems += self.judge(place, runs)
        let more = Directory.names(in: directory).filter { !outside.contains($0) }
        if !more.isEmpty { problems.append("what is in the file was run: it made \(more)") }
        if !FileBytes.areEqual(attached, FileBytes.read(place.attached)) {
            problems.append("what is in the file was run: it changed another database")
        }
        return problems
    }

    // MARK: - The tool

    private func read(
        _ number: Int, _ place: HostilePlace, _ runner: WorkerProcess, _ report: Report
    ) async throws -> (runs: [ToolRun], changes: [String]) {
        let before = FilePrint(place.directory)
        var runs: [ToolRun] = []
        for (turn, verb) in Self.reading.enumerated()
        where !self.isOneOfMany || (turn + number) % Self.reading.count < Self.verbsOfMany {
            let run = try await ToolRun(verb, in: place, temporary: self.temporary, through: self.launcher, by: runner)
            runs.append(run)
            report.add(1, "runs of the tool")
            report.raise(run.megabytes, "MB for the largest")
        }
        let changes = before.changes(to: FilePrint(place.directory)).map {
            "a verb that reads left a trace: \($0.replacing(place.directory, with: "…"))"
        }
        return (runs, changes)
    }

    /// One verb that writes, on a copy.
    private func write(
        _ number: Int, _ directory: String, _ runner: WorkerProcess, _ report: Report
    ) async throws -> [String] {
        let copy = try HostilePlace(directory)
        defer { copy.clear() }
        try self.place(copy)
        let names = Directory.names(in: copy.directory)
        let problems = try await self.change(number, copy, runner, report)
        return problems + (Directory.names(in: copy.directory) == names ? [] : ["a verb that writes ran what is there"])
    }

    private func change(
        _ number: Int, _ place: HostilePlace, _ runner: WorkerProcess, _ report: Report
    ) async throws -> [String] {
        let verb = Self.writing[number % Self.writing.count]
        let run = try await ToolRun(verb, in: place, temporary: self.temporary, through: self.launcher, by: runner)
        report.add(1, "runs of the tool")
        guard self.mustObey, ["reset", "forget"].contains(verb[0]), run.code > 0 else { return run.problems }
        // Whoever meets a row that can't be read removes it: there is nothing left to be reset or forgotten.
        // A file of an older schema is a service's to move.
        if run.said.contains("there is no circuit") || run.said.contains("the file has schema 2.0") {
            return run.problems
        }
        return run.problems + ["'\(verb.joined(separator: " "))' failed: \(run.said.replacing("\n", with: " "))"]
    }

    // MARK: - The service

    /// Opens the store, uses it, closes it; and the same again, for what the first time has made of it.
    private func visit(_ place: HostilePlace, _ victim: WatchedWorker, _ report: Report) async throws -> [String] {
        let use = self.keepsOthers ? "use-hostile keeps" : "use-hostile"
        var problems: [String] = []
        let database = place.databaseNumber
        for time in 0..<2 {
            var isOpen = false
            func ask(_ command: String) async {
                switch await victim.ask(command) {
                case .done: isOpen = true
                case .refused(let code, let message):
                    // Documented: what can't serve throws, with `.degrade` too.
                    if !["unsafePath", "unsupportedFileSystem", "notFound"].contains(code) {
                        problems.append("opening threw \(message)")
                    }
                case .violation(let what):
                    let why = what.replacing(place.directory, with: "…")
                    problems.append("a service, at '\(command.prefix(20))' \(time + 1): \(why)")
                }
            }
            await ask(HostileFiles.open(place.path))
            if isOpen, self.mustRefuse { problems.append("a service took files that are not its own") }
            if isOpen { await ask(use) }
            // What happens to an open store happens between two uses.
            if time == 0, let strike {
                try strike(place)
                if isOpen, !victim.hasEnded { await ask("use-hostile") }
            }
            if time == 1, self.mustRepair, isOpen, !victim.hasEnded { await ask("healthy 100000") }
            if victim.hasEnded { return problems }
            if time == 0 {
                let outcome = await self.outcome(place, database, victim)
                report.add(1, outcome.rawValue)
                if let outcomes, !outcomes.contains(outcome) { problems.append("the file was \(outcome.rawValue)") }
            }
            await ask("close")
            if victim.hasEnded { return problems }
        }
        return problems
    }

    /// What has come of the file, while the service still has it.
    private func outcome(_ place: HostilePlace, _ database: UInt64?, _ victim: WatchedWorker) async -> Outcome {
        if Directory.names(in: place.store).contains(where: { $0.contains(".corrupt-") }) { return .quarantine }
        guard case .done(let reply) = await victim.ask("health"), reply["health"] == "healthy" else { return .refused }
        return place.databaseNumber == database ? .used : .anew
    }
}

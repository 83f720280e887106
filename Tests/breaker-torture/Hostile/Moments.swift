import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Badly timed moments: what others do to a store just while a service opens it or registers a circuit.
struct Moments {
    private let stock: HostileStock
    private let report: Report

    private typealias Moment = (name: String, isLong: Bool, play: (HostilePlace) async throws -> [String])

    init(_ stock: HostileStock, _ report: Report) {
        self.stock = stock
        self.report = report
    }

    func play(_ options: Options) async throws {
        for (number, moment) in self.all.enumerated() where self.report.goesOn {
            if moment.isLong, options.isShort, options.only == nil { continue }
            guard options.only.map({ "moments: \(moment.name)".contains($0) }) ?? true else { continue }
            let place = try HostilePlace("\(self.stock.directory)/moment-\(number)")
            defer { place.clear() }
            try self.stock.put(self.stock.stores[1], place)
            let problems = try await moment.play(place)
            for problem in problems { self.report.violated("moments: \(moment.name): \(problem)") }
            if !problems.isEmpty { self.report.add(1, "bad moments") }
            self.report.add(1, "moments")
        }
    }

    private var all: [Moment] {
        [
            ("the guard is held while a service starts", false, self.heldGuard),
            ("all locks are held while a service starts", false, self.heldLocks),
            ("another writes while a circuit is registered", true, self.heldWriteLock),
            ("nothing can be written while a service starts", false, self.fullAtStart),
            ("a FIFO stands at the journal for a while", false, self.passingFIFO),
            ("names come and go", true, self.names),
            ("another process has far fewer events to keep", true, self.fewerEvents),
        ]
    }

    // MARK: - One after the other

    /// What the store held before and what failed meanwhile is together more than the circuit stands.
    private func heldGuard(_ place: HostilePlace) async throws -> [String] {
        let squatter = try await self.squatter(place, from: 0, count: 1)
        return try await self.play(["open \(place.path)", "use all"], then: { await squatter.die() }, ["await"])
    }

    private func heldLocks(_ place: HostilePlace) async throws -> [String] {
        let squatter = try await self.squatter(place, from: 0, count: 1 << 62)
        return try await self.play(["open \(place.path)", "use all"], then: { await squatter.die() }, ["await"])
    }

    private func heldWriteLock(_ place: HostilePlace) async throws -> [String] {
        let victim = try OpenerProcess(.victim, patience: .seconds(20))
        var problems = await self.ask(victim, ["open \(place.path)"])
        let writer = SQLiteFile(place.path)
        _ = writer.rows("BEGIN IMMEDIATE")
        problems += await self.ask(victim, ["fail"])
        _ = writer.rows("ROLLBACK")
        problems += await self.ask(victim, ["await", "leave"])
        await victim.leave()
        return problems
    }

    private func fullAtStart(_ place: HostilePlace) async throws -> [String] {
        try await self.play(
            ["limit 0", "open \(place.path)", "use all"], then: {}, ["limit none", "await"])
    }

    /// Whoever comes back to its file just then is stuck, and nobody else.
    private func passingFIFO(_ place: HostilePlace) async throws -> [String] {
        let stuck = try OpenerProcess(.victim, patience: HostileFiles.patience)
        var problems = await self.ask(stuck, ["open \(place.path)", "use all"])
        let path = place.path + "-journal"
        guard unsafe mkfifo(path, 0o600) == 0 else { throw SystemError("make \(path)") }
        unsafe unlink(place.path + "-shm")
        try await Task.sleep(for: .milliseconds(1_500))
        unsafe unlink(path)
        problems += try await self.play(["open \(place.path)", "use all"], then: {}, ["await"])
        problems += await self.ask(stuck, ["use all", "await"])
        stuck.abandon()
        return problems
    }

    private func names(_ place: HostilePlace) async throws -> [String] {
        try await self.play(["open \(place.path)"], then: {}, ["names"], patience: .seconds(60))
    }

    private func fewerEvents(_ place: HostilePlace) async throws -> [String] {
        let count = 1_000_000
        let numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT \(count))"
        try SQLiteFile.force(
            place.path, ["INSERT INTO event (circuit, kind, at) \(numbers) SELECT 'closed', 'reset', 1 FROM c"])
        let keeper = try OpenerProcess(.victim, patience: .seconds(60))
        let other = try OpenerProcess(.victim, patience: .seconds(60))
        var problems = await self.ask(other, ["open \(place.path)"])
        async let watching = self.ask(other, ["watch"])
        problems += await self.ask(keeper, ["open \(place.path)", "use all"])
        problems += await watching
        await keeper.leave()
        await other.leave()
        return problems
    }

    // MARK: - Means

    private func squatter(_ place: HostilePlace, from: Int64, count: Int64) async throws -> WorkerProcess {
        let words = ["role", Role.squatter.rawValue, place.path + "-lock", "\(from)", "\(count)"]
        let squatter = try WorkerProcess(program: "breaker-torture", arguments: words)
        try await squatter.ask("hold")
        return squatter
    }

    private func play(
        _ before: [String], then change: () async -> Void, _ behind: [String],
        patience: Duration = HostileFiles.patience
    ) async throws -> [String] {
        let victim = try OpenerProcess(.victim, patience: patience)
        var problems = await self.ask(victim, before)
        await change()
        problems += await self.ask(victim, behind + ["leave"])
        await victim.leave()
        return problems
    }

    private func ask(_ victim: OpenerProcess, _ commands: [String]) async -> [String] {
        var problems: [String] = []
        for command in commands where !victim.hasEnded {
            switch await victim.ask(command) {
            case .opened(let milliseconds):
                // An opening that degrades waits for others as long as a report does: 250 ms, and what a machine is
                // busy with.
                if command.hasPrefix("open"), milliseconds > 1_500 {
                    problems.append("opening took \(milliseconds) ms")
                }
            case .refused(_, let message): problems.append("'\(command.prefix(5))' threw \(message)")
            case .violation(let what): problems.append("'\(command.prefix(5))': \(what)")
            }
        }
        return problems
    }
}

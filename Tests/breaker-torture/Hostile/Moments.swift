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
            ("the setup lock is held while a service starts", false, self.heldSetupLock),
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
    private func heldSetupLock(_ place: HostilePlace) async throws -> [String] {
        let squatter = try await self.squatter(place, from: 0, count: 1)
        return try await self.play(self.using(place), then: { await squatter.die() }, Self.settling)
    }

    private func heldLocks(_ place: HostilePlace) async throws -> [String] {
        let squatter = try await self.squatter(place, from: 0, count: 1 << 62)
        return try await self.play(self.using(place), then: { await squatter.die() }, Self.settling)
    }

    private func heldWriteLock(_ place: HostilePlace) async throws -> [String] {
        let victim = try HostileFiles.victim(patience: HostileFiles.patience)
        var problems = await self.ask(victim, [HostileFiles.open(place.path)])
        let writer = SQLiteFile(place.path)
        _ = writer.rows("BEGIN IMMEDIATE")
        problems += await self.ask(victim, ["trip closed"])
        _ = writer.rows("ROLLBACK")
        problems += await self.ask(victim, Self.settling + ["close"])
        await victim.leave()
        return problems
    }

    private func fullAtStart(_ place: HostilePlace) async throws -> [String] {
        try await self.play(
            ["limit-files 0"] + self.using(place), then: {}, ["limit-files none"] + Self.settling)
    }

    /// Whoever comes back to its file just then is stuck, and nobody else.
    private func passingFIFO(_ place: HostilePlace) async throws -> [String] {
        let stuck = try HostileFiles.victim(patience: HostileFiles.patience)
        var problems = await self.ask(stuck, self.using(place))
        let path = place.path + "-journal"
        guard unsafe mkfifo(path, 0o600) == 0 else { throw SystemError("make \(path)") }
        unsafe unlink(place.path + "-shm")
        try await Task.sleep(for: .milliseconds(1_500))
        unsafe unlink(path)
        problems += try await self.play(self.using(place), then: {}, Self.settling)
        problems += await self.ask(stuck, ["use-hostile"] + Self.settling)
        stuck.abandon()
        return problems
    }

    private func names(_ place: HostilePlace) async throws -> [String] {
        let most = 400
        let victim = try HostileFiles.victim(patience: HostileFiles.patience)
        var problems = await self.ask(victim, [HostileFiles.open(place.path)])
        // What is forgotten leaves nothing behind.
        switch await victim.ask("forget-names 3000") {
        case .done(let reply):
            let left = reply.number("left") ?? 0
            if left > most { problems.append("a forgotten name leaves \(left) bytes") }
        case .refused(_, let what), .violation(let what): problems.append(what)
        }
        problems += await self.ask(victim, ["close"])
        await victim.leave()
        return problems
    }

    private func fewerEvents(_ place: HostilePlace) async throws -> [String] {
        let count = 1_000_000
        let numbers = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT \(count))"
        try SQLiteFile.force(
            place.path, ["INSERT INTO event (circuit, kind, at) \(numbers) SELECT 'closed', 'reset', 1 FROM c"])
        let keeper = try HostileFiles.victim(patience: HostileFiles.patience)
        let other = try HostileFiles.victim(patience: HostileFiles.patience)
        var problems = await self.ask(other, [HostileFiles.open(place.path)])
        async let watching = self.ask(other, ["watch watched 3000"])
        problems += await self.ask(keeper, self.using(place))
        problems += await watching
        await keeper.leave()
        await other.leave()
        return problems
    }

    // MARK: - Means

    /// Waits until the file is back, and holds what it says against the failures that were seen.
    private static let settling = ["healthy 100000 ; settle closed"]

    private func using(_ place: HostilePlace) -> [String] { [HostileFiles.open(place.path), "use-hostile"] }

    private func squatter(_ place: HostilePlace, from: Int64, count: Int64) async throws -> WorkerProcess {
        let squatter = try WorkerProcess()
        try await squatter.ask("squat \(place.path)-lock \(from) \(count)")
        return squatter
    }

    private func play(
        _ before: [String], then change: () async -> Void, _ behind: [String],
        patience: Duration = HostileFiles.patience
    ) async throws -> [String] {
        let victim = try HostileFiles.victim(patience: patience)
        var problems = await self.ask(victim, before)
        await change()
        problems += await self.ask(victim, behind + ["close"])
        await victim.leave()
        return problems
    }

    private func ask(_ victim: WatchedWorker, _ commands: [String]) async -> [String] {
        var problems: [String] = []
        for command in commands where !victim.hasEnded {
            switch await victim.ask(command) {
            case .done: break
            case .refused(_, let message): problems.append("'\(command)' threw \(message)")
            case .violation(let what): problems.append("'\(command)': \(what)")
            }
        }
        return problems
    }
}

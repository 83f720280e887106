/// What happens in both parts of the story.
extension Stage {
    func startFour(_ console: Console, _ claims: Claims) throws {
        for _ in 1...4 { try self.startWorker() }
        console.tell("Four workers start, each a process of its own (pids \(self.pids)).")
        try self.wait(until: "each worker has called three times") { self.workers.allSatisfy { $0.calls.count >= 3 } }
        let calls = self.workers.flatMap(\.calls)
        console.tell("They call the service, and all is well.")
        claims.check("\(calls.count) calls, all answered", calls.count { $0.result == .answered }, is: calls.count)
    }

    /// Returns when all workers know.
    func breakService(_ console: Console) throws {
        let since = Moment.now
        self.service.mood = .broken
        console.tell("The service breaks: it answers 503 from now on.")
        try self.wait(until: "all four workers are refused") {
            self.alive.allSatisfy { $0.calls(since: since).contains { $0.result == .refused } }
        }
    }

    /// The pids of the workers that live.
    private var pids: String { self.alive.map { String($0.process.pid) }.joined(separator: ", ") }

    /// Ends all workers, as a deployment does.
    func endWorkers() throws {
        let old = self.alive
        for worker in old { worker.tellToEnd() }
        try self.wait(until: "all workers have ended") { old.allSatisfy(\.process.isSilent) }
        for worker in old { try worker.waitForEnd() }
    }

    /// Starts the workers of a new release.
    func deploy(_ console: Console) throws -> [Worker] {
        let new = try (1...4).map { _ in try self.startWorker() }
        console.tell("The four workers of the new release start (pids \(self.pids)).")
        return new
    }

    func startNewcomer(_ console: Console) throws -> Worker {
        let newcomer = try self.startWorker()
        console.tell("A new worker starts in the dead one's place: \(newcomer.name) (pid \(newcomer.process.pid)).")
        return newcomer
    }

    /// How the first call of each worker goes that it begins from now on.
    func nextCalls() throws -> [Call.Result] {
        let since = Moment.now
        try self.wait(until: "each worker has called again") {
            self.alive.allSatisfy { !$0.calls(since: since).isEmpty }
        }
        return self.alive.compactMap { $0.calls(since: since).first?.result }
    }
}

/// What happens in both parts of the story.
extension Stage {
    func startFour(_ console: Console, _ claims: Claims) throws {
        for _ in 1...4 { try self.startWorker() }
        let pids = self.workers.map { String($0.process.pid) }.joined(separator: ", ")
        console.tell("Four workers start, each a process of its own (pids \(pids)).")
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

import BreakerStore

/// Three hosts and the service that they call, and what happens in both parts of their story.
final class HostStage {
    let stage: Stage
    let hosts: [Host]
    private let scratch: Scratch

    init() throws {
        let scratch = try Scratch()
        do {
            self.hosts = try Host.names.indices.map { try Host(number: $0, in: scratch.path) }
            self.stage = try Stage(path: nil)
        } catch {
            scratch.remove()
            throw error
        }
        self.scratch = scratch
    }

    /// Where an operator works.
    var first: Host { self.hosts[0] }

    /// How many doomed calls came from each host.
    var doomedByHost: [Int] {
        self.hosts.map { host in self.stage.service.requests.count { $0.isDoomed && host.made($0) } }
    }

    func startWorkers(_ console: Console, _ claims: Claims) throws {
        for host in self.hosts { try host.startWorkers(on: self.stage) }
        try self.stage.wait(until: "each worker has called twice") {
            self.stage.workers.allSatisfy { $0.calls.count >= 2 }
        }
        let calls = self.stage.workers.flatMap(\.calls)
        console.tell("Four workers on each host call the service, and all is well.")
        claims.check("\(calls.count) calls, all answered", calls.count { $0.result == .answered }, is: calls.count)
    }

    /// Returns when all twelve workers are refused, how many calls that took.
    func breakService(_ console: Console) throws -> Int {
        let since = Moment.now
        self.stage.service.mood = .broken
        console.tell("The service breaks: it answers 503 from now on.")
        try self.waitUntilRefused(self.stage.workers, since: since)
        return self.stage.service.doomed
    }

    func waitUntilRefused(_ workers: [Worker], since: Moment) throws {
        try self.stage.wait(until: "all workers are refused") {
            workers.allSatisfy { worker in
                worker.calls(since: since).contains { [.refused, .refusedForAProbe].contains($0.result) }
            }
        }
    }

    /// How the first call of each of the hosts' workers goes that it begins from now on.
    func nextCalls(of hosts: [Host]) throws -> [Call.Result] {
        let since = Moment.now
        let workers = hosts.flatMap(\.workers)
        try self.stage.wait(until: "each worker has called again") {
            workers.allSatisfy { !$0.calls(since: since).isEmpty }
        }
        return workers.compactMap { $0.calls(since: since).first?.result }
    }

    /// Resets the circuit on the first host, as an operator does.
    func reset(_ console: Console, _ claims: Claims) throws {
        let arguments = ["reset", FleetRules.circuit, "--as", "ann", "--reason", "mended"]
        console.quote(["\(self.first.name)$ breaker-inspect " + arguments.joined(separator: " ")])
        let (code, lines) = try self.stage.inspect(arguments, at: self.first.path)
        console.quote(lines)
        claims.check("breaker-inspect says that it is done", code, is: 0)
    }

    func clear() {
        self.stage.clear()
        for host in self.hosts { host.store.close() }
        self.scratch.remove()
    }
}

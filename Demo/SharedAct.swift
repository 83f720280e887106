import BreakerStore

/// The first part: four workers share one circuit.
struct SharedAct {
    let stage: Stage
    let store: CircuitStore
    let console: Console
    let claims: Claims

    func play() throws -> Toll {
        var toll = Toll()
        try self.stage.startFour(self.console, self.claims)
        toll.untilOpen = try self.tripOnce()
        toll.probing = try self.killTheProber()
        toll.newcomer = try self.startNewcomer()
        toll.deployment = try self.deploy()
        try self.reset()
        try self.tellHistory()
        return toll
    }

    private func tripOnce() throws -> Int {
        try self.stage.breakService(self.console)
        let doomed = self.stage.service.doomed
        self.console.tell("The circuit has tripped: all four workers are refused.")
        self.claims.check(
            "\(doomed) doomed calls opened it for all: \(Rules.maxFailures) failures, and calls already under way",
            doomed, in: Rules.maxFailures...Rules.maxFailures + 3)
        self.claims.check("the history has one trip, not four", try self.history(.tripped).count, is: 1)
        return doomed
    }

    private func killTheProber() throws -> Int {
        let service = self.stage.service
        // All four have been refused: none has an old call under way, and the next to come is a probe.
        let before = service.requests.count
        let probe = try self.stage.hangNextProbe()
        let prober = try self.stage.worker(of: probe)
        self.console.tell(
            "The \(Rules.recovery.readable) are over: \(prober.name) is let through to probe the service, which hangs."
        )
        try self.stage.wait(until: "the others are refused while one probes") {
            self.stage.alive.filter { $0 !== prober }.allSatisfy {
                $0.calls(since: probe.arrived).contains { $0.result == .refusedForAProbe }
            }
        }
        self.claims.check(
            "it is the only call to reach the service since: the other three are refused",
            service.requests.count - before, is: 1)
        let slots = try self.store.circuit(named: Rules.circuit)?.probes.map(\.worker) ?? []
        let pids = try self.store.workers().filter { slots.contains($0.id) }.map(\.pid)
        self.claims.check("the store knows who probes", pids, is: [prober.process.pid])

        let killed = Moment.now
        try prober.die()
        self.console.tell("kill -9 \(prober.process.pid): \(prober.name) dies in the middle of its probe.")
        try self.stage.wait(until: "another worker takes over") { service.requests.count > before + 1 }
        try self.tellTakeover(by: service.requests[before + 1], after: killed)
        return service.requests.count - before
    }

    private func tellTakeover(by request: Service.Request, after killed: Moment) throws {
        let taker = try self.stage.worker(of: request)
        let gap = request.arrived - killed
        self.console.tell("At its next call, \(gap.readable) after the kill, \(taker.name) takes over the probe.")
        let lease = Rules.lease.readable
        self.claims.check(
            "no worker waited for the end of the dead worker's lease of \(lease)", gap, in: .zero...Rules.lease / 2)
        try self.stage.wait(until: "the probe has failed") { try !self.history(.reopened).isEmpty }
        self.claims.check("no lease ran out", try self.history(.probeExpired).count, is: 0)
        self.claims.check(
            "the probe failed, for the service is still broken; the history says whose probe it was",
            try self.history(.reopened).map(\.pid), is: [taker.process.pid])
        self.claims.check(
            "the circuit is open again, for a minute this time",
            try self.store.circuit(named: Rules.circuit)?.openPeriod ?? .zero, is: Rules.recovery * Rules.multiplier)
    }

    private func startNewcomer() throws -> Int {
        let newcomer = try self.stage.startNewcomer(self.console)
        try self.stage.wait(until: "the new worker has made five calls") { newcomer.calls.count >= 5 }
        let reached = self.stage.service.requests(of: newcomer.name).count
        self.claims.check(
            "it finds the circuit open: its first call is refused", newcomer.calls.prefix(1).map(\.result),
            is: [.refused])
        self.claims.check("none of its first \(newcomer.calls.count) calls reached the service", reached, is: 0)
        return reached
    }

    private func deploy() throws -> Int {
        let service = self.stage.service
        let before = (requests: service.requests.count, since: try self.store.circuit(named: Rules.circuit)?.since)
        self.console.tell("A new release is deployed while the service is broken: all four workers end.")
        try self.stage.endWorkers()
        self.claims.check(
            "no worker is left: only the file knows of the outage", try self.store.workers().map(\.name), is: [])
        let workers = try self.stage.deploy(self.console)
        try self.stage.wait(until: "each new worker has made five calls") { workers.allSatisfy { $0.calls.count >= 5 } }
        let calls = workers.flatMap(\.calls)
        self.claims.check(
            "each of them is refused from its first call on: \(calls.count) calls",
            calls.count { $0.result == .refused }, is: calls.count)
        let reached = service.requests.count - before.requests
        self.claims.check("not one call has reached the service", reached, is: 0)
        self.claims.check(
            "the circuit has been open since the same moment as before",
            try self.store.circuit(named: Rules.circuit)?.since, is: before.since)
        return reached
    }

    private func reset() throws {
        self.stage.service.mood = .well
        self.console.tell("The service works again. An operator need not wait until the minute is over:")
        let (code, _) = try self.inspect(["reset", Rules.circuit, "--as", "ann", "--reason", "repaired"])
        let next = try self.stage.nextCalls()
        self.claims.check("breaker-inspect ends with exit code 0", code, is: 0)
        self.console.tell("Nobody tells the workers. Each of them reads the change before its next call.")
        self.claims.check(
            "each one's next call is answered", next, is: [.answered, .answered, .answered, .answered])
    }

    private func tellHistory() throws {
        self.console.tell("The store has the history:")
        _ = try self.inspect(["history", Rules.circuit])
        self.claims.check(
            "one trip, one prober that died, one probe that failed, one reset, and nothing else",
            try self.store.history(of: Rules.circuit).reversed().map(\.kind.rawValue),
            is: ["tripped", "probing", "proberDied", "reopened", "reset"])
    }

    /// Runs the tool, and shows what an operator would see.
    private func inspect(_ arguments: [String]) throws -> (code: Int32, lines: [String]) {
        self.console.quote(["$ breaker-inspect " + arguments.joined(separator: " ")])
        let answer = try self.stage.inspect(arguments)
        self.console.quote(answer.lines)
        return answer
    }

    private func history(_ kind: CircuitEvent.Kind) throws -> [CircuitEvent] {
        try self.store.history(of: Rules.circuit).filter { $0.kind == kind }
    }
}

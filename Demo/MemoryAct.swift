/// The second part: the same story, where each worker has a breaker in its memory.
struct MemoryAct {
    let stage: Stage
    let console: Console
    let claims: Claims

    func play() throws -> Toll {
        var toll = Toll()
        try self.stage.startFour(self.console, self.claims)
        toll.untilOpen = try self.tripFourTimes()
        toll.probing = try self.killOneProber()
        toll.newcomer = try self.startNewcomer()
        toll.deployment = try self.deploy()
        try self.repair()
        return toll
    }

    private func tripFourTimes() throws -> Int {
        try self.stage.breakService(self.console)
        let doomed = self.stage.service.doomed
        self.console.tell("Four breakers have tripped, each for itself.")
        self.claims.check(
            "\(doomed) doomed calls: \(Rules.maxFailures) of each worker", doomed, is: 4 * Rules.maxFailures)
        return doomed
    }

    private func killOneProber() throws -> Int {
        let service = self.stage.service
        let before = service.requests.count
        let prober = try self.stage.worker(of: try self.stage.hangNextProbe())
        try self.stage.wait(until: "each worker has probed") { service.requests.count >= before + 4 }
        self.console.tell(
            "The \(Rules.recovery.readable) are over, and each worker probes for itself; the probe of \(prober.name) hangs."
        )
        let probers = Set(service.requests[before...].map(\.worker))
        self.claims.check("four probes by four workers", probers.count, is: 4)
        try prober.die()
        self.console.tell("kill -9 \(prober.process.pid): \(prober.name) dies, and its breaker with it.")
        return service.requests.count - before
    }

    private func startNewcomer() throws -> Int {
        let newcomer = try self.stage.startNewcomer(self.console)
        try self.stage.wait(until: "the new worker refuses") { newcomer.calls.contains { $0.result == .refused } }
        let reached = self.stage.service.requests(of: newcomer.name).count
        self.console.tell("It knows nothing of the outage, and calls until its own breaker trips.")
        self.claims.check("\(reached) more doomed calls, all its own", reached, is: Rules.maxFailures)
        return reached
    }

    private func deploy() throws -> Int {
        let before = self.stage.service.requests.count
        self.console.tell("A new release is deployed while the service is broken: all four workers end.")
        try self.stage.endWorkers()
        let workers = try self.stage.deploy(self.console)
        try self.stage.wait(until: "each new worker refuses") {
            workers.allSatisfy { worker in worker.calls.contains { $0.result == .refused } }
        }
        let reached = self.stage.service.requests.count - before
        self.console.tell("None of them knows of the outage.")
        self.claims.check(
            "\(reached) more doomed calls: \(Rules.maxFailures) of each new worker", reached, is: 4 * Rules.maxFailures)
        return reached
    }

    private func repair() throws {
        self.stage.service.mood = .well
        self.console.tell(
            "The service works again. An operator can't reach the breakers: they are in the memory of four processes.")
        let next = try self.stage.nextCalls()
        self.claims.check(
            "each one's next call is still refused", next, is: [.refused, .refused, .refused, .refused])
    }
}

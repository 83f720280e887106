import BreakerStore
import BreakerTestSupport

/// Probes that hang, end without a verdict, or come in crowds.
extension Worker {
    /// The rules of half-open and recovery, as far as a registration names them.
    func setRecovery(of config: inout CircuitBreaker.Config, _ command: Command) {
        config.probes.successesToClose = Int(command.option("successes") ?? 1)
        config.probes.lease = .seconds(command.option("lease") ?? 30)
        config.probes.growth = Int(command.option("growth") ?? 1)
        config.probes.toleratedShare = command.option("tolerated") ?? 0
        config.recovery.multiplier = command.option("multiplier") ?? 1
        config.recovery.cap = .seconds(command.option("cap") ?? 600)
        config.recovery.jitter = command.option("jitter") ?? 0
    }

    /// `begin <circuit>`: an async call that hangs until it is finished.
    func begin(_ command: Command) async throws -> String {
        var calls = CallPolicy()
        calls.classify = { $0 is Boom ? .failure : .ignored }
        // Judged by the policy or by default, an ignored error is one.
        let breaker = try self.breaker(command.word(0))
        let own = try self.store.breaker(breaker.config, calls: command.has("policy") ? calls : CallPolicy())
        let (call, refusal) = await HungCall.begin(own)
        var tally = CircuitCounters()
        if let refusal { tally.refuse(refusal) } else { tally.ran = 1 }
        self.hungCall = call
        return tally.text
    }

    /// `finish succeed|fail|ignore|cancel`: ends the call that hangs; how its caller saw it end.
    func finish(_ command: Command) async throws -> String {
        guard let call = self.hungCall else { throw Missing(what: "a hanging call") }
        self.hungCall = nil
        let word = try command.word(0)
        guard let ending = HungCall.Ending(rawValue: word) else { throw Missing(what: "an ending '\(word)'") }
        return "ended=\(await call.end(ending))"
    }

    /// `ignored|leak`: the call that was admitted last fails by a cancellation, or its permit is lost.
    func endWithoutVerdict(_ command: Command) throws -> String {
        guard let permit = self.permit else { throw Missing(what: "a permit") }
        self.permit = nil
        if command.verb == "ignored" { permit.fail(CancellationError()) }
        return "ok"
    }

    /// `crowd <path> <circuit> <processes> <tasks> run|permit`: each task of each process calls once, all at once.
    ///
    /// They begin when all processes are ready; no operation ends before all calls have been let through or refused.
    func crowd(_ command: Command) async throws -> String {
        let crowd = try Crowd(path: command.word(0))
        let breaker = try self.breaker(command.word(1))
        let processes = try command.number(2)
        let tasks = try command.number(3)
        let hasPermit = try command.word(4) == "permit"
        crowd.add(.ready)
        await crowd.wait { crowd[.ready] >= processes }
        await withTaskGroup { group in
            for _ in 0..<tasks {
                group.addTask {
                    await Self.call(breaker, in: crowd, hasPermit) { _ in
                        await crowd.wait { crowd[.began] + crowd[.refused] >= processes * tasks }
                    }
                }
            }
        }
        return "ok"
    }

    /// `press <path> <circuit> <tasks> <failing>`: tasks call on and on until the crowd's day is over.
    ///
    /// Operations end as the crowd says that they may, and the one of that number fails.
    func press(_ command: Command) async throws -> String {
        let crowd = try Crowd(path: command.word(0))
        let breaker = try self.breaker(command.word(1))
        let tasks = try command.number(2)
        let failing = try command.number(3)
        await withTaskGroup { group in
            for _ in 0..<tasks {
                group.addTask {
                    while crowd[.isOver] == 0 {
                        await Self.call(breaker, in: crowd, false) { number in
                            await crowd.wait { crowd[.mayEnd] >= number }
                            if number == failing { throw Boom() }
                        }
                        await Task.yield()
                    }
                    crowd.add(.left)
                }
            }
        }
        return "ok"
    }

    private static func call(
        _ breaker: CircuitBreaker,
        in crowd: Crowd,
        _ hasPermit: Bool,
        _ operation: (Int) async throws -> Void
    ) async {
        do {
            if hasPermit {
                let permit = try self.admitSynchronously(breaker)
                try await operation(crowd.enter())
                crowd.leave()
                await permit.succeed()
            } else {
                try await breaker.run {
                    let number = crowd.enter()
                    defer { crowd.leave() }
                    try await operation(number)
                }
            }
        } catch is CircuitOpenError {
            crowd.add(.refused)
        } catch {
            if !(error is Boom) { crowd.add(.strange) }
        }
    }

    private static func admitSynchronously(_ breaker: CircuitBreaker) throws -> CallPermit { try breaker.admit() }
}

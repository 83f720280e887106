import BreakerStore
import BreakerTestSupport
import CTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Rules about shares of the calls, and what was counted.
extension Worker {
    /// `rate=<share> minimum=<calls>`, `slow=<milliseconds> slow-share=<share>`, `observing`.
    func setShares(of config: inout CircuitBreaker.Config, _ command: Command) {
        let window = Duration.seconds(command.option("window") ?? 60)
        let minimum = Int(command.option("minimum") ?? 20)
        if let share = command.option("rate") {
            config.trip = .failureRate(share, minimumCalls: minimum, within: window)
        }
        if let threshold = command.option("slow") {
            config.slow = SlowCallRule(
                longerThan: .milliseconds(threshold), share: command.option("slow-share") ?? 0.5,
                minimumCalls: minimum, within: window)
        }
        if command.has("observing") { config.mode = .observing }
    }

    /// `slow <circuit> <calls> <milliseconds>`: calls that go well, and take so long by the clock; how many ran.
    func callSlowly(_ command: Command) throws -> String {
        let breaker = try self.breaker(command.word(0))
        let time = Duration.milliseconds(try command.number(2))
        let clock = try self.clock
        var tally = CircuitCounters()
        for _ in 0..<(try command.number(1)) {
            do {
                try breaker.run {
                    tally.ran += 1
                    clock.advance(by: time)
                }
            } catch let error as CircuitOpenError {
                tally.refuse(error)
            }
        }
        return tally.text
    }

    /// `totals <circuit>`: all calls that are known of it.
    func totals(_ command: Command) throws -> String {
        let totals = try self.breaker(command.word(0)).totals
        return "succeeded=\(totals.succeeded) failed=\(totals.failed) slow=\(totals.slow) ignored=\(totals.ignored)"
            + " refused=\(totals.refused)"
    }

    /// `recent <circuit>`: the calls in its window.
    func recent(_ command: Command) throws -> String {
        guard let recent = try self.store.circuit(named: command.word(0))?.recent else { return "calls=none" }
        return "calls=\(recent.calls) failed=\(recent.failed)"
    }

    /// `until <circuit> <state>`: waits until the circuit is in the state, as long as this process lives.
    func waitUntil(_ command: Command) async throws -> String {
        let (name, state) = (try command.word(0), try command.word(1))
        while true {
            let look = try self.look(Command("look \(name)"))
            if look.hasPrefix("state=\(state) ") { return look }
            try await Task.sleep(for: .milliseconds(2))
        }
    }

    /// `private`: whether this process counts for itself.
    func countsPrivately() throws -> String { "private=\(try self.store.facts().countsPrivately)" }

    // MARK: - Forks

    /// `fork-inside <circuit> succeed|fail [async]`: one call, whose operation forks; both processes return from it.
    func forkInside(_ command: Command) async throws -> String {
        let breaker = try self.breaker(command.word(0))
        let fails = try command.word(1) == "fail"
        let child: pid_t
        if command.has("async") {
            child = await Self.forkInTask(breaker, fails)
        } else {
            child = try Self.onNewThread { Self.forkInCall(breaker, fails) }
        }
        guard child > 0 else { throw Missing(what: "a child") }
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0, errno == EINTR {}
        return "exit=\(ts_exit_code(status))"
    }

    private static func fork() -> pid_t { ts_fork_beside_sleepers(60) }

    private static func forkInCall(_ breaker: CircuitBreaker, _ fails: Bool) -> pid_t {
        var child: pid_t = -1
        do {
            try breaker.run {
                child = self.fork()
                if fails { throw Boom() }
            }
        } catch {}
        if child == 0 { _exit(0) }
        return child
    }

    @concurrent private static func forkInTask(_ breaker: CircuitBreaker, _ fails: Bool) async -> pid_t {
        var child: pid_t = -1
        do {
            try await breaker.run {
                child = self.fork()
                if fails { throw Boom() }
            }
        } catch {}
        if child == 0 { _exit(0) }
        return child
    }

    /// On a thread that has done nothing yet: see `inChild`.
    private static func onNewThread(_ body: @escaping @Sendable () -> pid_t) throws -> pid_t {
        let child = Locked<pid_t>(-1)
        let thread = StoreThread()
        let isStarted = thread.start {
            let own = body()
            child.withLock { $0 = own }
        }
        guard isStarted, thread.waitForEnd(until: Deadline(after: .hangLimit)) else {
            throw Missing(what: "a thread")
        }
        return child.withLock { $0 }
    }

    // MARK: - Time-outs

    /// `hang <circuit> <calls> <milliseconds>`: so many calls that hang until they time out by the store's clock;
    /// returns once all run.
    func hang(_ command: Command) async throws -> String {
        let count = try command.number(1)
        let timeout = Duration.milliseconds(try command.number(2))
        var calls = CallPolicy()
        calls.timeout = timeout
        let config = try self.breaker(command.word(0)).config
        let breaker = try self.takeHandle(config, calls)
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        self.hungCalls = (0..<count).map { _ in
            Task.detached {
                do {
                    try await breaker.run {
                        started.yield()
                        try await Task.sleep(for: .seconds(3_600))
                    }
                    return "returned"
                } catch is CallTimeoutError {
                    return "timed-out"
                } catch {
                    started.yield()
                    return "\(type(of: error))"
                }
            }
        }
        var running = 0
        for await _ in starts {
            running += 1
            if running == count { break }
        }
        return "running=\(running)"
    }

    private func takeHandle(_ config: CircuitBreaker.Config, _ calls: CallPolicy) throws -> CircuitBreaker {
        try self.store.breaker(config, calls: calls)
    }

    /// `hung`: waits for all of them; how many timed out.
    func hung() async -> String {
        var timedOut = 0
        for call in self.hungCalls where await call.value == "timed-out" { timedOut += 1 }
        self.hungCalls = []
        return "timed-out=\(timedOut)"
    }
}

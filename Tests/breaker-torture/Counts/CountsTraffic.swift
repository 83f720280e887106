import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process of the scene `windows`: it calls one circuit as its seed says, and writes down when each call ended.
final class CountsTraffic: Sendable {
    private struct Bad: Error {}

    private let log: CountsTimes
    private let rule: CountsRule
    private let breaker: CircuitBreaker
    private let store: CircuitStore
    private let seed: UInt64
    /// Whether this is the process whose calls fail where traffic begins.
    private let failsAlone: Bool
    /// Whether the process also begins to use other circuits, on a disk that is slow to give room.
    private let isHard: Bool

    /// - Parameter arguments: the directory, which process it is, the seed, `hard` or `plain`, and the words of the
    ///   rule.
    static func run(_ arguments: [String]) async -> Int32 {
        guard arguments.count == 7, let process = Int(arguments[1]), let seed = UInt64(arguments[2]),
            let rule = CountsRule(words: Array(arguments[4...]))
        else { return 64 }
        alarm(600)
        StaleAnswersEnd.watch { _exit(0) }
        do {
            let traffic = try Self(arguments[0], process, seed, rule, isHard: arguments[3] == "hard")
            await traffic.run()
            return 0
        } catch {
            Report.say("counts: process \(process) ended with \(error)")
            return 1
        }
    }

    private init(_ directory: String, _ process: Int, _ seed: UInt64, _ rule: CountsRule, isHard: Bool) throws {
        let log = try CountsTimes(directory, process)
        self.log = log
        self.rule = rule
        self.seed = seed
        self.failsAlone = process == 0
        self.isHard = isHard
        self.store = try CountsCaller.openStore(directory)
        self.breaker = try rule.register(in: self.store)
        #if BREAKERSTORE_HOOKS
        // Two threads publish: the store's and the one that counts.
        let began = Locked<[UInt: Int64]>([:])
        Hook.install { name in
            let thread = UInt(pthread_self())
            switch name {
            // A slow disk; other processes wait for the setup lock meanwhile.
            case "board.allocated" where isHard: usleep(200_000)
            case "counts.publishing": began.withLock { $0[thread] = KillLoop.uptime }
            case "counts.published":
                guard let start = began.withLock({ $0[thread] }) else { return }
                log.add(.publish, start, KillLoop.uptime, KillLoop.uptime)
            default: break
            }
        }
        #endif
    }

    private func run() async {
        let callers = Locked(2)
        _ = StoreThread().start {
            var random = SeededRandom(seed: self.seed)
            while !self.log.isOver { self.actInRounds(&random) }
            callers.withLock { $0 -= 1 }
        }
        Task.detached {
            var random = SeededRandom(seed: self.seed &+ 1)
            while !self.log.isOver { await self.actInRoundsAsTask(&random) }
            callers.withLock { $0 -= 1 }
        }
        var number = 0
        while callers.withLock({ $0 > 0 }) {
            usleep(2_000)
            // Each circuit takes cells, for which the board grows now and then.
            if self.isHard, self.log.phase > 0, Int.random(in: 0..<20) == 0 {
                number += 1
                self.useAnother(number)
            }
        }
        #if BREAKERSTORE_HOOKS
        Hook.install(nil)
        #endif
        self.store.close()
    }

    private func useAnother(_ number: Int) {
        let name = "other-\(self.failsAlone ? 0 : self.seed)-\(number)"
        let trip = TripRule.failureRate(self.rule.share, minimumCalls: 1_000, within: .microseconds(self.rule.window))
        guard let breaker = try? self.store.breaker(.init(name: name, trip: trip)) else { return }
        for _ in 0..<3 { try? breaker.run {} }
        let _: Void? = try? breaker.run { throw Bad() }
    }

    // MARK: - Traffic

    /// How a process behaves for a while.
    private struct Behaviour {
        /// So many calls at a time, and so many microseconds between.
        var calls: Int
        var pause: UInt32
        var failing: Double
        var until: Int64
    }

    private func behaviour(_ random: inout SeededRandom) -> Behaviour {
        let window = Int(self.rule.window)
        let now = KillLoop.uptime
        let until = now + Int64(Int.random(in: window / 10...window / 2, using: &random))
        // In windows since the round began.
        let age = Double(now - self.log.start) / Double(window)
        let factor: Double
        switch self.log.course {
        case .rising: factor = (0.2 + max(0, age - 1) * 0.4) * Double.random(in: 0.9...1.1, using: &random)
        case .idle where age < 1: factor = 0
        case .idle where age < 2.2: return Behaviour(calls: 0, pause: 1_000, failing: 0, until: now + 2_000)
        case .idle: factor = .infinity
        case .begins:
            // Five good calls to a failing one, each process as fast as the others.
            let isBad = self.failsAlone
            return Behaviour(calls: isBad ? 1 : 2, pause: 3_000, failing: isBad ? 1 : 0, until: until)
        case .wild: factor = [0, 0.3, 0.7, 0.9, 1, 1.1, 1.5][Int.random(in: 0..<7, using: &random)]
        }
        let failing = min(1, self.rule.share * factor)
        // In a rise most processes call all the time: else a few calls would be the share.
        let isBusy = self.log.course == .rising && Int.random(in: 0..<8, using: &random) > 0
        switch Int.random(in: isBusy ? 5..<8 : 0..<8, using: &random) {
        // Idle, at times for longer than the window.
        case 0...1: return Behaviour(calls: 0, pause: 2_000, failing: 0, until: until)
        case 2: return Behaviour(calls: 0, pause: 2_000, failing: 0, until: until + Int64(window))
        case 3: return Behaviour(calls: 300, pause: 30_000, failing: failing, until: until)
        case 4: return Behaviour(calls: 1, pause: 20_000, failing: failing, until: until)
        case 5: return Behaviour(calls: 5, pause: 5_000, failing: failing, until: until)
        case 6: return Behaviour(calls: 20, pause: 3_000, failing: failing, until: until)
        default: return Behaviour(calls: 2, pause: 2_000, failing: failing, until: until)
        }
    }

    private func actInRounds(_ random: inout SeededRandom) {
        let phase = self.log.phase
        guard phase > 0 else {
            self.log.rest(0, in: phase)
            usleep(1_000)
            return
        }
        let behaviour = self.behaviour(&random)
        while KillLoop.uptime < behaviour.until, self.log.phase == phase {
            for _ in 0..<behaviour.calls where self.log.phase == phase {
                let fails = Double.random(in: 0..<1, using: &random) < behaviour.failing
                let begun = KillLoop.uptime
                var ended: Int64 = 0
                do {
                    try self.breaker.run {
                        ended = KillLoop.uptime
                        if fails { throw Bad() }
                    }
                } catch {}
                self.note(fails, begun, ended)
            }
            usleep(behaviour.pause)
        }
    }

    private func actInRoundsAsTask(_ random: inout SeededRandom) async {
        let phase = self.log.phase
        guard phase > 0 else {
            self.log.rest(1, in: phase)
            try? await Task.sleep(for: .milliseconds(1))
            return
        }
        let behaviour = self.behaviour(&random)
        while KillLoop.uptime < behaviour.until, self.log.phase == phase {
            for _ in 0..<behaviour.calls where self.log.phase == phase {
                let fails = Double.random(in: 0..<1, using: &random) < behaviour.failing
                let begun = KillLoop.uptime
                var ended: Int64 = 0
                do {
                    try await self.breaker.run { () async throws in
                        ended = KillLoop.uptime
                        if fails { throw Bad() }
                    }
                } catch {}
                self.note(fails, begun, ended)
            }
            try? await Task.sleep(for: .microseconds(Int(behaviour.pause)))
        }
    }

    /// - Parameter ended: zero if the operation did not run.
    private func note(_ fails: Bool, _ begun: Int64, _ ended: Int64) {
        let now = KillLoop.uptime
        guard ended > 0 else {
            self.log.wasRefused()
            usleep(1_000)
            return
        }
        self.log.add(fails ? .failed : .good, begun, ended, now)
    }
}

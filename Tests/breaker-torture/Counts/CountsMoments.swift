import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Single moments in which a count may go wrong, each played many times with real processes.
final class CountsMoments {
    private enum Moment: CaseIterable {
        /// A process is stopped for ten windows and then fails once.
        case stopped
        /// Heavy traffic, nobody for a window and a tick, then failures alone.
        case idle
        /// Eight processes decide at once.
        case atOnce
        /// Each process fails nineteen times and dies.
        case crashLoop
    }

    private static let rounds = 100
    /// The machine may be late.
    private static let margin: Int64 = 50_000

    private let stage: Stage
    private let directory: String
    private let gate: SharedNumbers
    private var peers: [WorkerProcess] = []
    private var number: Int64 = 0
    private var report: Report { self.stage.report }

    init(_ stage: Stage) throws {
        self.stage = stage
        self.directory = stage.directory
        self.gate = try SharedNumbers(path: stage.directory + "/gate")
    }

    func run() async throws {
        self.peers = try (0..<CountsLog.processes).map { try self.peer($0) }
        defer { for peer in self.peers { peer.clear() } }
        for _ in 0..<(self.stage.options.isShort ? 1 : Self.rounds) {
            for moment in Moment.allCases where self.report.goesOn {
                do {
                    try await self.play(moment)
                } catch {
                    self.report.violated("\(moment): \(error)")
                }
                self.report.add(1, "moments")
            }
        }
        for peer in self.peers { await peer.quit() }
    }

    private func peer(_ process: Int) throws -> WorkerProcess {
        try WorkerProcess(
            program: "breaker-torture",
            arguments: ["role", Role.countsPeer.rawValue, self.directory, "\(process)"])
    }

    private func play(_ moment: Moment) async throws {
        self.number += 1
        let name = "moment-\(self.number)"
        guard unsafe mkdir("\(self.directory)/\(name)", 0o700) == 0 else { throw SystemError("make a directory") }
        defer { Directory.remove("\(self.directory)/\(name)") }
        let rule =
            switch moment {
            case .stopped: CountsRule(share: 0.5, minimum: 10, window: 200_000)
            case .idle: CountsRule(share: 0.5, minimum: 20, window: 400_000)
            case .atOnce: CountsRule(share: 0.5, minimum: CountsLog.processes, window: 10_000_000)
            case .crashLoop: CountsRule(share: 0.5, minimum: 20, window: 10_000_000)
            }
        try await self.ask(Array(self.peers.indices), "open \(name) \(rule.words.joined(separator: " "))")
        let store = try CountsCaller.openStore("\(self.directory)/\(name)")
        defer { store.close() }
        let breaker = try rule.register(in: store)
        switch moment {
        case .stopped: try await self.stop(rule, breaker)
        case .idle: while try await !self.idle(rule, breaker) { try await breaker.reset() }
        case .atOnce: try await self.decideAtOnce(breaker, store)
        case .crashLoop: try await self.crash(name, rule, breaker)
        }
        for violation in StoreJudge(StoreFile("\(self.directory)/\(name)/circuits.db")).violations {
            self.report.violated("\(moment): \(violation)")
        }
    }

    private func ask(_ peers: [Int], _ command: String) async throws {
        try await Self.ask(peers.map { self.peers[$0] }, command)
    }

    private static func ask(_ peers: [WorkerProcess], _ command: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for peer in peers { group.addTask { try await peer.ask(command) } }
            try await group.waitForAll()
        }
    }

    private func isTripped(_ breaker: CircuitBreaker) -> Bool {
        if case .open = breaker.state { true } else { false }
    }

    private func requireClosed(_ breaker: CircuitBreaker, _ what: String) {
        if self.isTripped(breaker) { self.report.violated("\(what): it tripped: \(breaker.snapshotText)") }
    }

    /// Where other processes live, they are asked before the circuit trips.
    private func requireTrip(_ breaker: CircuitBreaker, _ what: String) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !self.isTripped(breaker) {
            guard .now < deadline else { return self.report.violated("\(what): it did not trip") }
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    // MARK: - The moments

    private func stop(_ rule: CountsRule, _ breaker: CircuitBreaker) async throws {
        self.number += 1
        let gate = self.number
        // One failure in twenty-one calls, as fast as it goes, and stopped in the midst of them.
        let peer = self.peers[0]
        async let answer = peer.ask("mix-until-gate \(gate)")
        try await Task.sleep(for: .milliseconds(30))
        peer.stop()
        try await Task.sleep(for: .microseconds(10 * rule.window))
        self.gate[0] = gate
        peer.goOn()
        _ = try await answer
        self.requireClosed(breaker, "a worker that was stopped for ten windows failed once")
    }

    /// Returns whether the machine was fast enough for the failures to be within one window.
    private func idle(_ rule: CountsRule, _ breaker: CircuitBreaker) async throws -> Bool {
        try await self.ask(Array(self.peers.indices), "call 20000")
        try await Task.sleep(for: .microseconds(rule.window + rule.tick + Self.margin))
        let begun = ContinuousClock.now
        for failure in 1..<rule.minimum {
            try await self.ask([failure % self.peers.count], "fail 1")
            if self.isTripped(breaker) {
                self.report.violated("failure \(failure) of \(rule.minimum) tripped after a time without calls")
                return true
            }
        }
        try await self.ask([0], "fail 1")
        let longest = Duration.microseconds(rule.window - rule.tick - Self.margin)
        guard ContinuousClock.now - begun < longest || self.isTripped(breaker) else { return false }
        try await self.requireTrip(breaker, "\(rule.minimum) failures after a window without calls")
        return true
    }

    private func decideAtOnce(_ breaker: CircuitBreaker, _ store: CircuitStore) async throws {
        var trips = 0
        for _ in 0..<(self.stage.options.isShort ? 5 : 20) {
            self.number += 1
            let gate = self.number
            self.gate[1] = 0
            let peers = self.peers
            async let answers: Void = Self.ask(peers, "fail-at-gate \(gate)")
            while self.gate[1] < Int64(self.peers.count) { try await Task.sleep(for: .microseconds(100)) }
            self.gate[0] = gate
            try await answers
            trips += 1
            try await self.requireTrip(breaker, "failures of eight at once, of which eight are enough")
            let known = try await store.history(of: CountsRule.circuit, limit: 1_000).count { $0.kind == .tripped }
            if known != trips { self.report.violated("eight processes tripped at once: \(known) trips of \(trips)") }
            try await breaker.reset()
            self.report.add(1, "decisions of eight at once")
        }
    }

    private func crash(_ name: String, _ rule: CountsRule, _ breaker: CircuitBreaker) async throws {
        for round in 0..<2 {
            // A process that has used the circuit looks at its window, and finds what the dead have left.
            try await breaker.admit().discard()
            // The first one fails nineteen times and dies; the next one's first failure is the twentieth.
            _ = try? await self.peers[0].ask("fail-and-die \(rule.minimum - 1)")
            self.requireClosed(breaker, "nineteen failures of a process that died")
            self.peers[0].clear()
            self.peers[0] = try self.peer(0)
            try await self.ask([0], "open \(name) \(rule.words.joined(separator: " "))")
            _ = try? await self.peers[0].ask("fail-and-die 1")
            try await self.requireTrip(breaker, "the twentieth failure of a crash loop, round \(round)")
            self.peers[0].clear()
            self.peers[0] = try self.peer(0)
            try await self.ask([0], "open \(name) \(rule.words.joined(separator: " "))")
            try await breaker.reset()
        }
    }
}

extension CircuitBreaker {
    /// What a violation tells of a circuit.
    fileprivate var snapshotText: String { "\(self.name) is \(self.state), \(self.totals)" }
}

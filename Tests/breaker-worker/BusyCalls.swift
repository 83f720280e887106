import BreakerStore
import BreakerTestSupport

/// The verb `busy`, for the part `files`: failing calls, one after the other, and what the file must hold of them.
///
/// The failures are those of a circuit of its own, and each was seen between two instants that no other call shares.
final class BusyCalls: Sendable {
    private struct Call {
        var start: Int64
        var end: Int64
        /// The store was healthy before and after, and there was no time to open another file in between.
        var wasAcknowledged: Bool
    }

    private struct State {
        var task: Task<Void, Never>?
        var calls: [Call] = []
        var isPaused = false
        var isIdle = false
        var slowest = Duration.zero
        var degradedCalls = 0
        var wrong: [String] = []
    }

    /// To open a file takes longer.
    private static let atOnce = Duration.milliseconds(1)
    /// A worker that is asked nothing for as long as the hang limit ends itself: this one has to answer before.
    private static let patience = Duration.hangLimit / 2
    private static let shownProblems = 3

    private let store: CircuitStore
    private let own: CircuitBreaker
    private let clock: TickingClock
    private let count: Int
    /// The failures from before are those of a worker of the same number, which was killed.
    private let begin: Int64
    private let state = Locked(State())

    /// Begins to call, as one of so many workers.
    init(_ store: CircuitStore, _ clock: TickingClock, _ number: Int, of count: Int) throws {
        self.store = store
        self.clock = clock
        self.count = count
        self.begin = clock.shared.tick()
        self.own = try store.breaker(
            .init(name: "own-\(number)", trip: .failures(1_000_000, within: .seconds(86_400)))
        )
        let task = Task.detached { await self.callUntilCancelled() }
        self.state.withLock { $0.task = task }
    }

    func end() async {
        let task = self.state.withLock { $0.task }
        task?.cancel()
        await task?.value
    }

    func perform(_ command: Command) async throws -> String {
        switch try command.word(0) {
        case "see": return self.sight
        case "pause":
            self.state.withLock { $0.isPaused = true }
            while !self.state.withLock({ $0.isIdle }) { try await Task.sleep(for: .milliseconds(1)) }
            return self.tally
        case "go":
            self.state.withLock { ($0.isPaused, $0.isIdle) = (false, false) }
            return "ok"
        case "verify":
            return try await self.verify(command.rest(1).split(separator: " ").compactMap(ExcusedTime.init))
        default: throw Worker.Missing(what: "a command '\(command.rest(0))' to those who call busily")
        }
    }

    // MARK: - Calls

    private func callUntilCancelled() async {
        var number = 0
        while !Task.isCancelled {
            if self.state.withLock({ $0.isPaused }) {
                self.state.withLock { $0.isIdle = true }
                try? await Task.sleep(for: .milliseconds(1))
                continue
            }
            number += 1
            await self.call(number)
            try? await Task.sleep(for: .milliseconds(Int64.random(in: 1...6)))
        }
    }

    private func call(_ number: Int) async {
        let wasHealthy = self.isHealthy
        let start = self.clock.shared.tick()
        let begin = ContinuousClock.now
        var problem: String?
        switch number % 3 {
        case 0: await self.own.recordFailure(Boom())
        case 1: problem = self.callSynchronously()
        default: problem = await self.callAsynchronously()
        }
        let time = ContinuousClock.now - begin
        let isHealthy = self.isHealthy
        let end = self.clock.shared.tick()
        self.state.withLock {
            $0.calls.append(
                Call(start: start, end: end, wasAcknowledged: wasHealthy && isHealthy && time < Self.atOnce)
            )
            $0.slowest = max($0.slowest, time)
            if !isHealthy { $0.degradedCalls += 1 }
            if let problem { $0.wrong.append(problem) }
        }
    }

    private var isHealthy: Bool { self.store.health.isHealthy }

    private func callSynchronously() -> String? {
        var runs = 0
        do {
            try self.own.run { () throws in
                runs += 1
                throw Boom()
            }
            return self.problem(nil, runs)
        } catch {
            return self.problem(error, runs)
        }
    }

    private func callAsynchronously() async -> String? {
        var runs = 0
        do {
            try await self.own.run { () async throws in
                runs += 1
                throw Boom()
            }
            return self.problem(nil, runs)
        } catch {
            return self.problem(error, runs)
        }
    }

    /// What is wrong with how a call ended: its operation runs once, and its error comes back.
    private func problem(_ error: (any Error)?, _ runs: Int) -> String? {
        guard let error else { return "the call ended without its error" }
        guard error is Boom else { return "the call ended with \(error)" }
        return runs == 1 ? nil : "the operation ran \(runs) times"
    }

    private var tally: String {
        self.state.withLock {
            "calls=\($0.calls.count) degraded=\($0.degradedCalls) slowest=\(Int64($0.slowest / .microseconds(1)))"
                + " wrong=\($0.wrong.prefix(Self.shownProblems).joined(separator: ",").replacing(" ", with: "_"))"
        }
    }

    // MARK: - Looking

    /// Whether the file is in use here, and the newest failure of each worker that can be seen in it.
    private var sight: String {
        let newest = (0..<self.count).map { number in
            (try? self.store.circuit(named: "own-\(number)"))??.failures.map(TickingClock.microseconds).max() ?? 0
        }
        var text = "healthy=\(self.isHealthy) newest=\(newest.map { "\($0)" }.joined(separator: ","))"
        if case .degraded(since: _, let error) = self.store.health { text += " because \(error)" }
        return text
    }

    /// Waits until the file holds what it must; else tells what is wrong with it.
    private func verify(_ windows: [ExcusedTime]) async throws -> String {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let problems = self.problems(windows)
            if problems.isEmpty { return "ok" }
            if ContinuousClock.now > deadline {
                let shown = problems.prefix(Self.shownProblems) + problems.suffix(1)
                return "wrong \(problems.count): \(shown.joined(separator: "; "))"
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func problems(_ windows: [ExcusedTime]) -> [String] {
        guard let seen = (try? self.store.circuit(named: self.own.name)) ?? nil else { return ["no circuit"] }
        var times = seen.failures.map(TickingClock.microseconds).sorted()[...]
        var problems: [String] = []
        func addStray(_ time: Int64) {
            // Another file's clock may be apart by as much as the time went on while it was set. The failures that were
            // kept for it come later, by its clock.
            let isExcused = windows.contains { $0.overlaps(time, time) }
            guard time > self.begin, !isExcused else { return }
            problems.append("a failure at \(time) that no call had")
        }
        for call in self.state.withLock({ $0.calls }) {
            while let first = times.first, first < call.start {
                addStray(first)
                times.removeFirst()
            }
            var count = 0
            while let first = times.first, first <= call.end {
                count += 1
                times.removeFirst()
            }
            let what = "the failure between \(call.start) and \(call.end)"
            if count > 1, self.isDue(call, windows) { problems.append("\(what) is there \(count) times") }
            if count == 0, self.isDue(call, windows) {
                problems.append("\(what)\(call.wasAcknowledged ? ", acknowledged," : "") is lost")
            }
        }
        for time in times { addStray(time) }
        return problems
    }

    private func isDue(_ call: Call, _ windows: [ExcusedTime]) -> Bool {
        windows.allSatisfy { window in
            guard window.overlaps(call.start, call.end) else { return true }
            switch window.excuse {
            case .all: return false
            case .slow: return call.wasAcknowledged
            }
        }
    }
}

extension Worker {
    /// `busy begin <number> <count>`: calls on and on, as one of so many workers; `busy pause` and `busy go`.
    ///
    /// `busy see` tells what this process sees of the others, `busy verify <excused time>...` whether the file has what
    /// it must.
    func callBusily(_ command: Command) async throws -> String {
        if try command.word(0) == "begin" {
            self.busyCalls = try BusyCalls(
                self.store, TickingClock(shared: self.clock), command.number(1), of: command.number(2))
            return "ok"
        }
        guard let calls = self.busyCalls else { throw Missing(what: "busy calls") }
        return try await calls.perform(command)
    }
}

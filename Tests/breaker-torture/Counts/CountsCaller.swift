import BreakerStore
import BreakerTestSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process that calls circuits in tight loops and writes down, outside of the store, what it was told of each call.
final class CountsCaller: Sendable {
    struct Bad: Error {}
    private struct Ignored: Error {}

    /// A sixteenth of it is a tick.
    static let window = Duration.seconds(4)
    static let tick: Int64 = 250_000
    /// Calls that take longer are slow.
    private static let threshold: Int64 = 2_000
    /// Calls in a row: about as long as the machine lets a thread run at a time.
    #if DEBUG
    private static let many = 200
    #else
    private static let many = 20_000
    #endif

    private let log: CountsLog
    private let process: Int
    private let seed: UInt64
    private let store: CircuitStore
    private let breakers: [CircuitBreaker]
    /// Failing ends move the lanes, too: without them what a kill loses is what a tick holds.
    private let fails: Bool
    private let callers = Locked(0)

    /// - Parameter arguments: the directory, which process it is, and the seed.
    static func run(_ arguments: [String]) async -> Int32 {
        guard arguments.count == 3, let process = Int(arguments[1]), let seed = UInt64(arguments[2]) else { return 64 }
        alarm(600)
        StaleAnswersEnd.watch { _exit(0) }
        do {
            let caller = try Self(CountsLog(arguments[0]), arguments[0], process, seed)
            await caller.run()
            return 0
        } catch {
            Report.say("counts: process \(process) ended with \(error)")
            return 1
        }
    }

    static func openStore(_ directory: String) throws -> CircuitStore {
        var configuration = CircuitStore.Configuration()
        // A busy machine is no failure.
        configuration.busyTimeout = .seconds(30)
        return try CircuitStore(path: directory + "/circuits.db", configuration: configuration)
    }

    /// Registers the circuits of a process, none of which ever trips.
    static func register(_ process: Int, in store: CircuitStore) throws -> [CircuitBreaker] {
        var policy = CallPolicy()
        policy.classify = { $0 is Ignored ? .ignored : .failure }
        return try CountsLog.circuits.indices.map { circuit in
            let slow = SlowCallRule(
                longerThan: .microseconds(Self.threshold), share: 1, minimumCalls: 1_000_000, within: Self.window)
            return try store.breaker(
                .init(
                    name: CountsLog.name(circuit, of: process),
                    trip: .failureRate(1, minimumCalls: 1_000_000, within: Self.window),
                    slow: circuit == 2 ? slow : nil),
                calls: policy)
        }
    }

    private init(_ log: CountsLog, _ directory: String, _ process: Int, _ seed: UInt64) throws {
        self.log = log
        self.process = process
        self.seed = seed
        self.store = try Self.openStore(directory)
        self.breakers = try Self.register(process, in: self.store)
        self.fails = seed % 3 != 0
        try self.breakers[3].hold(.open)
        // While another process makes the board, this one counts in its own memory, for longer than a tick.
        repeat { _ = self.breakers[0].totals } while try Self.isPrivate(self.store)
    }

    private static func isPrivate(_ store: CircuitStore) throws -> Bool {
        guard try store.facts().countsPrivately else { return false }
        usleep(10_000)
        return true
    }

    private func run() async {
        for index in 0..<2 {
            self.callers.withLock { $0 += 1 }
            _ = StoreThread().start {
                var random = SeededRandom(seed: self.seed &+ UInt64(index))
                while !self.log.isOver { self.act(&random) }
                self.callers.withLock { $0 -= 1 }
            }
        }
        self.callers.withLock { $0 += 1 }
        Task.detached {
            var random = SeededRandom(seed: self.seed &+ 17)
            while !self.log.isOver { await self.actInTask(&random) }
            self.callers.withLock { $0 -= 1 }
        }
        // Woken as often as the library's threads may be: the gaps between samples tell how late the machine is.
        while self.callers.withLock({ $0 > 0 }) {
            self.log.sample(at: KillLoop.uptime, of: self.process)
            usleep(10_000)
        }
        self.store.close()
    }

    // MARK: - Calls

    private enum Kind {
        case good, failed, slow, slowFailed, ignored, refused
    }

    /// What is called next, and how often.
    private func next(_ random: inout SeededRandom) -> (kind: Kind, circuit: Int, times: Int) {
        let many = Self.many
        switch Int.random(in: 0..<1_000, using: &random) {
        case 0..<200: return (.good, 1, many / 4)
        case 200..<220: return (.good, 2, many / 10)
        case 220..<240 where self.fails: return (.failed, Int.random(in: 0...2, using: &random), 1 + many / 200)
        case 240..<242: return (.slow, 2, 1)
        case 242 where self.fails: return (.slowFailed, 2, 1)
        case 250..<270: return (.ignored, Int.random(in: 0...2, using: &random), 8)
        case 270..<275: return (.refused, 3, 8)
        default: return (.good, 0, many)
        }
    }

    private func act(_ random: inout SeededRandom) {
        let (kind, circuit, times) = self.next(&random)
        // Each failure is written down for itself.
        for _ in 0..<(kind == .failed ? times : 1) { self.act(kind, circuit, kind == .failed ? 1 : times) }
    }

    private func act(_ kind: Kind, _ circuit: Int, _ times: Int) {
        let breaker = self.breakers[circuit]
        let began = KillLoop.uptime
        self.begin(kind, circuit, times)
        switch kind {
        case .good: for _ in 0..<times { try? breaker.run {} }
        case .failed: let _: Void? = try? breaker.run { throw Bad() }
        case .slow: let _: Void? = try? breaker.run { _ = usleep(3_000) }
        case .slowFailed:
            let _: Void? = try? breaker.run {
                usleep(3_000)
                throw Bad()
            }
        case .ignored: for _ in 0..<times { let _: Void? = try? breaker.run { throw Ignored() } }
        case .refused: for _ in 0..<times where (try? breaker.run {}) != nil { self.wasNotRefused() }
        }
        self.end(kind, circuit, times, began)
    }

    private func actInTask(_ random: inout SeededRandom) async {
        let (kind, circuit, times) = self.next(&random)
        for _ in 0..<(kind == .failed ? times : 1) { await self.actInTask(kind, circuit, kind == .failed ? 1 : times) }
    }

    private func actInTask(_ kind: Kind, _ circuit: Int, _ times: Int) async {
        let breaker = self.breakers[circuit]
        let began = KillLoop.uptime
        self.begin(kind, circuit, times)
        switch kind {
        case .good: for _ in 0..<times { try? await breaker.run { () async throws in } }
        case .failed: let _: Void? = try? await breaker.run { () async throws in throw Bad() }
        case .slow: _ = try? await breaker.run { () async throws in usleep(3_000) }
        case .slowFailed:
            let _: Void? = try? await breaker.run { () async throws in
                usleep(3_000)
                throw Bad()
            }
        case .ignored:
            for _ in 0..<times { let _: Void? = try? await breaker.run { () async throws in throw Ignored() } }
        case .refused:
            for _ in 0..<times where (try? await breaker.run { () async throws in }) != nil { self.wasNotRefused() }
        }
        self.end(kind, circuit, times, began)
    }

    private func wasNotRefused() { Report.say("counts: a held circuit let a call through") }

    private func begin(_ kind: Kind, _ circuit: Int, _ times: Int) {
        let word: CountsLog.Word =
            switch kind {
            case .good: .goodBegun
            case .failed: .failedBegun
            case .slow: .slowBegun
            case .slowFailed: .slowFailedBegun
            case .ignored: .ignoredBegun
            case .refused: .refusedBegun
            }
        self.log.add(times, word, circuit, of: self.process)
    }

    private func end(_ kind: Kind, _ circuit: Int, _ times: Int, _ began: Int64) {
        let word: CountsLog.Word
        switch kind {
        case .good: word = .good
        case .failed: word = .failed
        case .slow: word = .slow
        case .slowFailed: word = .slowFailed
        case .ignored: word = .ignored
        case .refused: word = .refused
        }
        // Any of the calls may have been the one that had to wait.
        let isLong = KillLoop.uptime - began > Self.threshold
        if circuit == 2, kind == .good || kind == .failed, isLong {
            self.log.add(times, .perhapsSlow, circuit, of: self.process)
        }
        self.log.add(times, word, circuit, of: self.process)
    }
}

import BreakerStore
import BreakerTestSupport
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Asks without a pause, on several threads, and holds each answer against what was acknowledged before it asked.
final class StaleAnswersReader: Sendable {
    /// A store that is open, and its circuits.
    private struct Handles {
        var store: CircuitStore
        var breakers: [CircuitBreaker]
        /// How often this process had disturbed its own store when it was opened.
        var disturbances: Int

        init(_ store: CircuitStore, _ breakers: [CircuitBreaker], _ disturbances: Int) {
            self.store = store
            self.breakers = breakers
            self.disturbances = disturbances
        }
    }

    private static let threads = 2
    private static let maxSaid = 10
    /// Cached answers between two looks at what else is going on.
    private static let batch = 4_096

    private let board: StaleAnswersBoard
    private let index: Int
    private let current: Locked<Handles>
    /// Odd while this process closes its store or has it degraded.
    private let disturbances = Atomic<Int>(0)
    private let isOver = Atomic<Bool>(false)

    /// - Parameter arguments: the directory, which reader it is, and the seed.
    static func run(_ arguments: [String]) async -> Int32 {
        guard arguments.count == 3, let index = Int(arguments[1]), let seed = UInt64(arguments[2]),
            let board = try? StaleAnswersBoard(arguments[0])
        else { return 64 }
        let reader = Self(board, index)
        StaleAnswersEnd.watch { reader.isOver.store(true, ordering: .relaxed) }
        let ends = (0..<Self.threads).map { number in
            let thread = StoreThread()
            _ = thread.start { reader.check(SeededRandom(seed: seed &+ UInt64(number))) }
            return thread
        }
        await reader.disturb(SeededRandom(seed: seed &+ 100))
        for end in ends { _ = end.waitForEnd(until: Deadline(after: .seconds(30))) }
        return 0
    }

    private init(_ board: StaleAnswersBoard, _ index: Int) {
        self.board = board
        self.index = index
        let (store, breakers) = Self.open(board)
        self.current = Locked(Handles(store, breakers, 0))
    }

    private static func open(_ board: StaleAnswersBoard) -> (CircuitStore, [CircuitBreaker]) {
        while true {
            do {
                let store = try board.openStore()
                return (store, try StaleAnswersBoard.names.indices.map { try board.register($0, in: store) })
            } catch {
                // A file may be taken away just while it is opened.
                usleep(10_000)
            }
        }
    }

    // MARK: - Checking

    private func check(_ seeded: SeededRandom) {
        var random = seeded
        while !self.isOver.load(ordering: .relaxed) {
            let era = self.board[.era]
            let handles = self.current.withLock { $0 }
            var hits: Int64 = 0
            var misses: Int64 = 0
            for turn in 0..<Self.batch {
                let circuit = turn % handles.breakers.count
                let breaker = handles.breakers[circuit]
                let acknowledged = self.board.acknowledged(circuit)
                guard let answer = breaker.cachedDecision else {
                    misses += 1
                    self.call(circuit, handles, era, &random)
                    // Without the file each call is a long one.
                    if misses > 64 { break }
                    continue
                }
                hits += 1
                let least = Epoch(acknowledged >> 1)
                if answer.epoch < least { self.suspect(answer, least, breaker.name, era) }
                if turn % 128 == 127 { self.call(circuit, handles, era, &random) }
            }
            if era % 2 == 0 {
                self.board.add(.checks, hits)
                self.board.add(.misses, misses)
            }
        }
    }

    /// An answer that is older than what was acknowledged before it was asked for.
    private func suspect(_ answer: CachedDecision, _ least: Epoch, _ name: String, _ era: Int64) {
        guard era % 2 == 0, self.board[.era] == era else { return }
        self.violated("\(name) is \(answer.verdict) of epoch \(answer.epoch), acknowledged was \(least)")
    }

    private func violated(_ what: String) {
        guard self.board.add(.stale) <= Self.maxSaid else { return }
        Report.say("stale: reader \(self.index): \(what)")
    }

    /// A call as users make it, let through or refused as the last acknowledged change says, if no other was begun.
    private func call(_ circuit: Int, _ handles: Handles, _ era: Int64, _ random: inout SeededRandom) {
        let breaker = handles.breakers[circuit]
        let (number, unrest) = (self.board.number(circuit), self.board[.unrest])
        let acknowledged = self.board.acknowledged(circuit)
        guard self.disturbances.load(ordering: .sequentiallyConsistent) == handles.disturbances else {
            _ = Self.isLetThrough(breaker, &random)
            return
        }
        let (isPermitted, how) = Self.isLetThrough(breaker, &random)
        guard circuit != StaleAnswersBoard.common, number > 0, self.board.begun(circuit) == number,
            unrest % 2 == 0, self.board[.unrest] == unrest, era % 2 == 0, self.board[.era] == era,
            self.disturbances.load(ordering: .sequentiallyConsistent) == handles.disturbances
        else { return }
        self.board.add(.calls)
        guard isPermitted != (acknowledged & 1 == 1) else { return }
        self.violated(
            "\(breaker.name) was \(isPermitted ? "let through" : "refused") by \(how) after change \(number), "
                + "epoch \(acknowledged >> 1), health \(handles.store.health)"
        )
    }

    private static func isLetThrough(_ breaker: CircuitBreaker, _ random: inout SeededRandom) -> (Bool, String) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            return (breaker.isCallPermitted, "isCallPermitted")
        case 1:
            return ((try? breaker.admit()) != nil, "admit")
        case 2:
            // What an async call asks first.
            do throws(CircuitOpenError) {
                if try breaker.isAdmittedByCache { return (true, "admitByCachedDecision") }
            } catch {
                return (false, "admitByCachedDecision")
            }
            return ((try? breaker.run {}) != nil, "run")
        default:
            return ((try? breaker.run {}) != nil, "run")
        }
    }

    // MARK: - Disturbing

    /// Closes and opens the store, has it degraded, and says when it is back on the files that are there.
    private func disturb(_ seeded: SeededRandom) async {
        var random = seeded
        var confirmed: Int64 = -1
        while !self.isOver.load(ordering: .relaxed) {
            try? await Task.sleep(for: .milliseconds(Int.random(in: 5...60, using: &random)))
            let request = self.board[.request]
            if request != confirmed, self.isBack {
                confirmed = request
                self.board.confirm(request, by: self.index)
            }
            switch Int.random(in: 0..<60, using: &random) {
            case 0:
                self.disturbed {
                    $0.store.pretendLoss()
                    self.requireSilence($0)
                }
            case 1..<4:
                self.disturbed {
                    $0.store.close()
                    self.requireSilence($0)
                    ($0.store, $0.breakers) = Self.open(self.board)
                }
            default: break
            }
        }
        self.disturbances.add(1, ordering: .sequentiallyConsistent)
        self.current.withLock { $0.store }.close()
    }

    private func disturbed(_ body: (inout Handles) -> Void) {
        var handles = self.current.withLock { $0 }
        self.disturbances.add(1, ordering: .sequentiallyConsistent)
        body(&handles)
        while !handles.store.health.isHealthy, !self.isOver.load(ordering: .relaxed) { usleep(200) }
        handles.disturbances += 2
        self.disturbances.add(1, ordering: .sequentiallyConsistent)
        self.current.withLock { [handles] in $0 = handles }
    }

    /// Once a store is degraded or closed, no cached answer counts.
    private func requireSilence(_ handles: Handles) {
        let unrest = self.board[.unrest]
        for breaker in handles.breakers {
            // It may be back already; what else degrades it counts for nothing here.
            guard let answer = breaker.cachedDecision, !handles.store.health.isHealthy, unrest % 2 == 0,
                self.board[.unrest] == unrest
            else { continue }
            self.violated("\(breaker.name) is \(answer.verdict) while the store is \(handles.store.health)")
        }
    }

    /// Whether the store has found out what was taken away, and is on what is there now.
    private var isBack: Bool {
        let store = self.current.withLock { $0.store }
        return store.health.isHealthy && store.isInPlace && store.health.isHealthy
    }
}

import BreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Changes circuits and writes down each change once its call has returned, until it is killed.
struct StaleAnswersWriter {
    private enum Change: CaseIterable {
        case trip, reset, holdOpen, holdClosed, release
    }

    private let board: StaleAnswersBoard
    private let own: Int
    private let store: CircuitStore
    private let breakers: [CircuitBreaker]
    private var random: SeededRandom
    /// What is known of the own circuit, which nobody else changes; nil after a change that was not acknowledged.
    private var isTripped: Bool?
    private var hold: HoldState?

    /// - Parameter arguments: the directory, which writer it is, and the seed.
    static func run(_ arguments: [String]) -> Int32 {
        guard arguments.count == 3, let own = Int(arguments[1]), let seed = UInt64(arguments[2]) else { return 64 }
        StaleAnswersEnd.watch { _exit(0) }
        while true {
            do {
                var writer = try Self(StaleAnswersBoard(arguments[0]), own, seed)
                return writer.run()
            } catch {
                // A file may be taken away just while it is opened.
                usleep(10_000)
            }
        }
    }

    private init(_ board: StaleAnswersBoard, _ own: Int, _ seed: UInt64) throws {
        self.board = board
        self.own = own
        self.random = SeededRandom(seed: seed)
        let store = try board.openStore()
        self.store = store
        self.breakers = try [own, StaleAnswersBoard.common].map { try board.register($0, in: store) }
    }

    private mutating func run() -> Int32 {
        // Most are killed before.
        for _ in 0..<Int.random(in: 100...2_000, using: &self.random) {
            switch Int.random(in: 0..<200, using: &self.random) {
            case 0: self.loseFile()
            case 1..<40: self.changeCommon()
            // Calm, in which what a call gets can be told for sure.
            case 40..<44: usleep(UInt32.random(in: 0...8_000, using: &self.random))
            default: self.changeOwn()
            }
        }
        self.store.close()
        return 0
    }

    /// Nothing is changed meanwhile.
    private func loseFile() {
        self.store.pretendLoss()
        while !self.store.health.isHealthy { usleep(200) }
    }

    private mutating func changeCommon() {
        let change: Change = self.isEven() ? .holdOpen : .reset
        self.perform(change, on: StaleAnswersBoard.common, self.breakers[1], permits: change == .reset)
    }

    private mutating func changeOwn() {
        let change = self.next()
        switch change {
        case .trip: self.isTripped = true
        case .reset: (self.isTripped, self.hold) = (false, nil)
        case .holdOpen: self.hold = .open
        case .holdClosed: self.hold = .closed
        case .release: self.hold = nil
        }
        let permits =
            switch self.hold {
            case .open: false
            case .closed: true
            case nil: self.isTripped == false
            }
        if !self.perform(change, on: self.own, self.breakers[0], permits: permits) { self.isTripped = nil }
    }

    private mutating func next() -> Change {
        guard let isTripped = self.isTripped else { return .reset }
        if self.hold != nil { return self.isEven() ? .release : .reset }
        if isTripped { return self.isEven() ? .reset : .holdClosed }
        return self.isEven() ? .trip : self.isEven() ? .holdOpen : .holdClosed
    }

    private mutating func isEven() -> Bool { Bool.random(using: &self.random) }

    /// Returns whether the change was acknowledged, and tells the readers so.
    @discardableResult
    private func perform(_ change: Change, on circuit: Int, _ breaker: CircuitBreaker, permits: Bool) -> Bool {
        let (era, unrest) = (self.board[.era], self.board[.unrest])
        let before = Epoch(self.board.acknowledged(circuit) >> 1)
        let number = self.board.begin(circuit)
        do {
            switch change {
            case .trip: breaker.recordFailure()
            case .reset: try breaker.reset()
            case .holdOpen: try self.store.hold(breaker.name, .open)
            case .holdClosed: try self.store.hold(breaker.name, .closed)
            case .release: try self.store.release(breaker.name)
            }
            guard self.store.health.isHealthy, let epoch = try breaker.storedEpoch else { return false }
            // Degraded and back in the meantime, a report may still be on its way.
            guard unrest % 2 == 0, unrest == self.board[.unrest], era == self.board[.era] else { return false }
            if epoch <= before {
                self.board.add(.stale)
                Report.say("stale: \(change) of \(breaker.name) left epoch \(epoch) where \(before) had been")
            }
            self.board.acknowledge(circuit, number: number, epoch: epoch, permits: permits)
            return true
        } catch {
            usleep(1_000)
            return false
        }
    }
}

/// The end of the process that started this one.
enum StaleAnswersEnd {
    static func watch(_ onEnd: @escaping @Sendable () -> Void) {
        _ = StoreThread().start {
            var byte: UInt8 = 0
            while unsafe read(STDIN_FILENO, &byte, 1) > 0 {}
            onEnd()
        }
    }
}

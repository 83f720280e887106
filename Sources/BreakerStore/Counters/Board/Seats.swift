import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The seats of a board as one worker of this process uses them; the worker may have a seat of its own.
///
/// Each function touches the board; none but `sleep` waits.
final class Seats: Sendable {
    /// A copy of a seat that a worker has.
    struct Taken: Equatable, Sendable {
        var worker: WorkerID
        var answered: UInt64
        var mask: UInt64
    }

    let board: Board
    let worker: WorkerID
    private let table: SeatTable
    /// The index of this worker's seat; nil if all seats were taken.
    private let index: Int?

    init(_ table: SeatTable, of worker: WorkerID, at index: Int?, on board: Board) {
        self.board = board
        self.worker = worker
        self.table = table
        self.index = index
    }

    private func touching<Result>(_ body: () -> Result) -> Result {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        return body()
    }

    /// Calls `body` with this worker's seat; returns nil if another worker has it by now.
    private func withOwn<Result>(_ body: (SeatTable.Seat) -> Result) -> Result? {
        guard let index = self.index else { return nil }
        return self.touching { self.table[index].worker == self.worker ? body(self.table[index]) : nil }
    }

    /// Whether this worker has a seat.
    var isSeated: Bool { self.withOwn { _ in true } ?? false }

    // MARK: - Questions

    var asked: UInt64 { self.touching { self.table.asked } }

    func ask() -> UInt64 { self.touching { self.table.ask() } }

    /// Answers a question: all that this process had counted when it read `asked` is on the board.
    func answer(_ asked: UInt64) { _ = self.withOwn { $0.answered = asked } }

    /// All seats that workers have, by index; this worker's own included.
    var taken: [Int: Taken] {
        self.touching {
            var taken: [Int: Taken] = [:]
            for index in 0..<SeatTable.count {
                let seat = self.table[index]
                let worker = seat.worker
                guard worker != 0 else { continue }
                taken[index] = Taken(worker: worker, answered: seat.answered, mask: seat.mask)
            }
            return taken
        }
    }

    func ring(_ indices: some Sequence<Int>) {
        self.touching { for index in indices where index != self.index { self.table[index].ring() } }
    }

    // MARK: - This worker's seat

    /// Sets the bit of a circuit that this process uses, before the circuit's first call.
    func add(_ bit: UInt64) {
        _ = self.withOwn { seat in
            while true {
                let mask = seat.mask
                if mask & bit != 0 || seat.replaceMask(mask, with: mask | bit) { return }
            }
        }
    }

    /// Replaces the mask by the bits of the circuits that this process uses now.
    ///
    /// - Parameter bits: called after the mask is read, so that no bit is lost that another thread adds in between.
    func setMask(to bits: () -> UInt64) {
        _ = self.withOwn { seat in
            let mask = seat.mask
            let bits = bits()
            if mask != bits { _ = seat.replaceMask(mask, with: bits) }
        }
    }

    /// Whether the board has been replaced by another board.
    var isMoved: Bool { self.touching { self.table.isMoved } }

    func leave() { _ = self.withOwn { $0.free(of: self.worker) } }

    // MARK: - Sleeping

    /// The value of this worker's bell; nil without a seat.
    var bell: UInt32? { self.withOwn { $0.bell } }

    /// Wakes this worker's counting thread, which may have gone to sleep while it had the seat.
    func ringOwn() {
        guard let index = self.index else { return }
        self.touching { self.table[index].ring() }
    }

    /// How a sleep on the bell ended.
    enum Sleep {
        /// The bell was rung, or the time is over.
        case over
        /// The bell's memory is gone.
        case lost
        /// This system can't sleep on memory that processes share, or the worker has no seat.
        case impossible
    }

    func sleep(while bell: UInt32, for duration: Duration) -> Sleep {
        guard let index = self.index else { return .impossible }
        let nanoseconds = Int64(min(duration, .seconds(3_600)) / .nanoseconds(1))
        switch self.touching({ self.table[index].sleep(while: bell, nanoseconds: nanoseconds) }) {
        case 0: return .over
        case EFAULT: return .lost
        default: return .impossible
        }
    }
}

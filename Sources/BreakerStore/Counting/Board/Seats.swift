import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The seats of a board, for one worker of this process, which may have a seat of its own.
///
/// Each function touches the board, and none of them waits, but for `sleep`.
final class Seats: Sendable {
    /// A seat that is taken, as a worker saw it.
    struct Taken: Equatable, Sendable {
        var worker: Int64
        var answered: UInt64
        var mask: UInt64
    }

    let board: Board
    let worker: Int64
    private let table: SeatTable
    /// This worker's place; nil if all seats are taken.
    private let place: Int?

    init(_ table: SeatTable, of worker: Int64, at place: Int?, on board: Board) {
        self.board = board
        self.worker = worker
        self.table = table
        self.place = place
    }

    private func touching<Result>(_ body: () -> Result) -> Result {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        return body()
    }

    /// Calls `body` with this worker's seat, unless another worker has it by now.
    private func withOwn<Result>(_ body: (SeatTable.Seat) -> Result) -> Result? {
        guard let place = self.place else { return nil }
        return self.touching { self.table[place].worker == self.worker ? body(self.table[place]) : nil }
    }

    /// Whether this worker has a seat.
    var isSeated: Bool { self.withOwn { _ in true } ?? false }

    // MARK: - Questions

    var asked: UInt64 { self.touching { self.table.asked } }

    func ask() -> UInt64 { self.touching { self.table.ask() } }

    /// Notes that all that this process had counted when it read `asked` is on the board.
    func answer(_ asked: UInt64) { _ = self.withOwn { $0.answered = asked } }

    /// All seats that are taken, by their places; that of this worker, too.
    var taken: [Int: Taken] {
        self.touching {
            var taken: [Int: Taken] = [:]
            for place in 0..<SeatTable.count {
                let seat = self.table[place]
                let worker = seat.worker
                guard worker != 0 else { continue }
                taken[place] = Taken(worker: worker, answered: seat.answered, mask: seat.mask)
            }
            return taken
        }
    }

    func ring(_ places: some Sequence<Int>) {
        self.touching { for place in places where place != self.place { self.table[place].ring() } }
    }

    // MARK: - This worker's seat

    /// Notes that this process uses a circuit, before the circuit's first call.
    func add(_ bit: UInt64) {
        _ = self.withOwn { seat in
            while true {
                let mask = seat.mask
                if mask & bit != 0 || seat.replaceMask(mask, with: mask | bit) { return }
            }
        }
    }

    /// Leaves only the bits of the circuits that this process uses now.
    ///
    /// - Parameter bits: asked once the mask is read, so that no bit is lost that is added meanwhile.
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

    /// Wakes this worker's thread that counts, which may have gone to sleep while it had the seat.
    func ringOwn() {
        guard let place = self.place else { return }
        self.touching { self.table[place].ring() }
    }

    /// How a sleep on the bell ended.
    enum Sleep {
        /// The bell was rung, or the time is over.
        case over
        /// The bell's memory is gone.
        case lost
        /// Nobody can sleep there on this system.
        case impossible
    }

    func sleep(while bell: UInt32, for duration: Duration) -> Sleep {
        guard let place = self.place else { return .impossible }
        let nanoseconds = Int64(min(duration, .seconds(3_600)) / .nanoseconds(1))
        switch self.touching({ self.table[place].sleep(while: bell, nanoseconds: nanoseconds) }) {
        case 0: return .over
        case EFAULT: return .lost
        default: return .impossible
        }
    }
}

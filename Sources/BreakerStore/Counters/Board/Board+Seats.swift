import CBreakerStore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Seats on a board: see `SeatTable`.
extension Board {
    /// Gives a worker a seat: its own if it has one, or the first that is free or a dead worker's.
    ///
    /// If all seats are taken, this process can ask but can't answer: other processes wait for its answers until their
    /// patience is over. May wait for other processes and for the disk.
    func acquireSeat(
        for worker: WorkerID, isAlive: (WorkerID) -> Bool, making room: RoomMaking
    ) throws(BreakerStoreError) -> Seats {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        var seats: Seats?
        try room.exclusively { () throws(BreakerStoreError) in
            let table: SeatTable
            do throws(BreakerStoreError) {
                table = try self.seatTable(mayGrow: room.mayGrow())
            } catch {
                room.growthFailed()
                throw error
            }
            let known = (0..<SeatTable.count).map { table[$0].worker }
            let index =
                known.firstIndex(of: worker) ?? known.firstIndex { $0 == 0 || $0 != worker && !isAlive($0) }
            if let index { table[index].give(to: worker, asked: table.asked) }
            seats = Seats(table, of: worker, at: index, on: self)
        }
        guard let seats, !self.isLost else {
            throw BreakerStoreError(
                code: .unavailable, message: "cannot use '\(self.path)': it was removed or replaced",
                advice: "try again",
                path: self.path)
        }
        return seats
    }
}

/// The seats of a board that is being replaced, opened before another board takes its name.
///
/// A mark in them shows at once, to workers that still have the old board mapped, that others no longer count there.
struct ReplacedBoard {
    private let mapping: BoardMapping

    /// Nil if there is no board with seats at the path.
    init?(at path: String) {
        guard (try? StoreFile.requireSafe(name: path, isDatabase: false)) != nil, let file = OpenFile(path, O_RDWR),
            let segment = BoardReader.header(of: file)?.segments.first(where: { $0.kind == .seats }),
            let mapping = BoardMapping(file.descriptor, offset: segment.offset, size: segment.size, loss: BoardLoss())
        else { return nil }
        self.mapping = mapping
    }

    func markMoved() {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        SeatTable(words: self.mapping.words(from: 0)).markMoved()
    }
}

import CBreakerStore

/// The degraded workers: they can't write to the database, so they note on the board that they are degraded.
extension Board {
    /// A worker that can't use the database.
    struct Degraded: Equatable, Sendable {
        var worker: Int64
        /// The uptime in microseconds since which the worker is degraded.
        var since: Int64
        /// Why the worker is degraded; nil if that is not known.
        var reason: BreakerStoreError.Code?
    }

    /// Notes since when a worker is degraded, and why; with nil for `uptime`, that the worker is not degraded any more.
    ///
    /// A worker has a cell only while it is degraded: otherwise programs that start each second would fill the board.
    /// Returns false if no cell is free or a dead worker's: then the board does not show the worker.
    @discardableResult
    func setDegraded(
        _ worker: Int64, since uptime: Int64?, reason: BreakerStoreError.Code? = nil, isAlive: (Int64) -> Bool
    ) -> Bool {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        let id = UInt64(bitPattern: worker)
        let cells = self.workerCells()
        if let own = cells.first(where: { $0[0] == id }) {
            guard let uptime else { return own.replace(id, with: 0, at: 0) }
            Degraded(worker: worker, since: uptime, reason: reason).write(to: own)
            return true
        }
        guard let uptime else { return true }
        for cell in cells {
            let known = cell[0]
            guard known == 0 || !isAlive(Int64(bitPattern: known)) else { continue }
            guard cell.replace(known, with: id, at: 0) else { continue }
            Degraded(worker: worker, since: uptime, reason: reason).write(to: cell)
            return true
        }
        return false
    }

    private func workerCells() -> [SharedWords] {
        let segments = (try? self.segments(following: true)) ?? []
        return segments.filter { $0.kind == .worker }
            .flatMap { segment in (0..<segment.capacity).map { segment.cell(at: $0) } }
    }
}

extension Board.Degraded {
    /// The reasons that have a number on the board: the place here + 1.
    ///
    /// New reasons go to the end.
    private static let reasons: [BreakerStoreError.Code] = [
        .busy, .full, .corrupt, .unavailable, .permissionDenied, .notFound, .notAStore, .newerSchema, .unsafePath,
        .unsupportedFileSystem, .inUse, .foreignSchema, .olderSchema,
    ]

    /// Reads the cell of a worker; nil if the cell is free, or if a worker is writing to it now.
    ///
    /// A worker takes a cell by the first word, while the other words are still another worker's: so the last word is a
    /// check of all.
    init?(_ cell: SharedWords) {
        let number = cell[2]
        self.init(worker: cell.number(0), since: cell.number(1))
        guard self.worker != 0, cell[3] == self.check(number) else { return nil }
        if (1...UInt64(Self.reasons.count)).contains(number) { self.reason = Self.reasons[Int(number) - 1] }
    }

    fileprivate func write(to cell: SharedWords) {
        let number = self.reason.flatMap(Self.reasons.firstIndex).map { UInt64($0) + 1 } ?? 0
        cell[1] = UInt64(bitPattern: self.since)
        cell[2] = number
        cell[3] = self.check(number)
    }

    private func check(_ number: UInt64) -> UInt64 {
        bs_check(UInt64(bitPattern: self.worker), UInt64(bitPattern: self.since), number, 0)
    }
}

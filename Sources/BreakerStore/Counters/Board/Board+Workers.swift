import CBreakerStore

/// Degraded workers: they can't write to the database, so they publish on the board that they are degraded.
extension Board {
    /// A worker that can't use the database.
    struct Degraded: Equatable, Sendable {
        var worker: WorkerID
        /// The uptime since which the worker is degraded.
        var since: Uptime
        /// Why the worker is degraded; nil if that is not known.
        var reason: BreakerStoreError.Code?
    }

    /// Publishes since when a worker is degraded, and why; nil for `uptime`: the worker is no longer degraded.
    ///
    /// A worker has a cell only while it is degraded: otherwise programs that start each second would fill the board.
    ///
    /// - Returns: false if all cells are other living workers': then the board does not show this worker.
    @discardableResult
    func setDegraded(
        _ worker: WorkerID, since uptime: Uptime?, reason: BreakerStoreError.Code? = nil, isAlive: (WorkerID) -> Bool
    ) -> Bool {
        let touch = bs_begin_touching()
        defer { bs_end_touching(touch) }
        let id = worker.word
        let cells = self.workerCells()
        if let own = cells.first(where: { $0[0] == id }) {
            guard let uptime else { return own.replace(id, with: 0, at: 0) }
            Degraded(worker: worker, since: uptime, reason: reason).write(to: own)
            return true
        }
        guard let uptime else { return true }
        for cell in cells {
            let known = cell[0]
            guard known == 0 || !isAlive(WorkerID(word: known)) else { continue }
            guard cell.replace(known, with: id, at: 0) else { continue }
            Degraded(worker: worker, since: uptime, reason: reason).write(to: cell)
            return true
        }
        return false
    }

    private func workerCells() -> [SharedWords] {
        let segments = (try? self.segments(mappingNew: true)) ?? []
        return segments.filter { $0.kind == .degradedWorker }
            .flatMap { segment in (0..<segment.capacity).map { segment.cell(at: $0) } }
    }
}

extension Board.Degraded {
    /// Reads the cell of a worker; nil if the cell is free, or if a worker is writing to it now.
    ///
    /// A worker takes a cell over by writing the first word, while the other words are still another worker's: so the
    /// last word is a checksum of all.
    init?(_ cell: SharedWords) {
        let number = cell[2]
        self.init(worker: WorkerID(word: cell[0]), since: Uptime(microseconds: cell.number(1)))
        guard self.worker != 0, cell[3] == self.checksum(number) else { return nil }
        self.reason = BreakerStoreError.Code(number: number)
    }

    fileprivate func write(to cell: SharedWords) {
        let number = self.reason?.number ?? 0
        cell[1] = UInt64(bitPattern: self.since.microseconds)
        cell[2] = number
        cell[3] = self.checksum(number)
    }

    private func checksum(_ number: UInt64) -> UInt64 {
        bs_check(self.worker.word, UInt64(bitPattern: self.since.microseconds), number, 0)
    }
}

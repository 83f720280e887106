/// Circuits as the file had them at one instant.
package struct StoreImage {
    let stored: [StoredCircuit]
    /// The circuits whose rows can't be read, by name.
    package let unreadable: [UnreadableCircuit]
    /// The workers of the store, dead or alive.
    let workers: [(worker: Worker, since: StoreTime)]
    let clock: StoreClock
    let file: StoreFile
    let schema: Int64
    /// The file's incarnation, which the file's board has, too.
    let incarnation: Int64?
    let isAlive: (WorkerID) -> Bool

    /// The circuits at one moment, by name; each is computed on demand.
    package struct Moment {
        fileprivate let stored: [StoredCircuit]
        fileprivate let moment: ReadingMoment
        /// The workers at this moment.
        package let live: LiveWorkers
        fileprivate let board: BoardView

        package var count: Int { self.stored.count }

        /// A circuit, with its current rates, which come from the board: calls that are counted there do not change the
        /// file.
        package subscript(index: Int) -> InspectedCircuit {
            var circuit = self.stored[index]
            circuit.recent = self.board.rates(of: circuit.row)
            return circuit.inspected(at: self.moment)
        }

        package func state(at index: Int) -> CircuitState { self.moment.state(of: self.stored[index].row) }

        package func isDue(at index: Int) -> Bool {
            var circuit = self.stored[index].row.circuit
            circuit.clampFutureStamps(for: self.moment.now)
            return circuit.isDue(at: self.moment.now)
        }

        package func mode(at index: Int) -> CircuitMode { self.stored[index].row.circuit.rules.mode }

        package func group(at index: Int) -> String? { self.stored[index].row.group }
    }

    /// The circuits now: reads the time, the living workers and the board again.
    package func now() -> Moment {
        let moment = ReadingMoment(self.clock, isAlive: self.isAlive)
        let board = BoardView(of: self.file, incarnation: self.incarnation, self.clock)
        return Moment(stored: self.stored, moment: moment, live: self.liveWorkers(on: board), board: board)
    }

    /// The workers now, for a watch: reads the board only if a locked byte shows that a worker can't use the file.
    package func liveWorkers() -> LiveWorkers {
        let isAnyDegraded = !DegradedBytes.found(at: self.file.lock).isEmpty
        return self.liveWorkers(
            on: isAnyDegraded ? BoardView(of: self.file, incarnation: self.incarnation, self.clock) : nil)
    }

    private func liveWorkers(on board: BoardView?) -> LiveWorkers {
        LiveWorkers(
            self.workers.filter { self.isAlive($0.worker.id) }, ofSchema: self.schema, of: self.file, on: board,
            self.clock)
    }

    /// All circuits now, by name, with the rates from when the file was last read.
    package func circuits() -> [InspectedCircuit] {
        let moment = ReadingMoment(self.clock, isAlive: self.isAlive)
        return self.stored.map { $0.inspected(at: moment) }
    }
}

/// Circuits as the file had them at one time.
package struct StoreImage {
    let records: [CircuitRecord]
    /// Those whose rows can't be read, by name.
    package let unreadable: [UnreadableCircuit]
    /// The workers of the store, dead or alive.
    let workers: [Int64]
    let clock: StoreClock
    let file: StoreFile
    /// The number that the file was born with, by which its board is known.
    let birth: Int64?
    let isAlive: (Int64) -> Bool

    /// The circuits at one moment, by name; each is made when somebody asks for it.
    package struct Moment {
        fileprivate let records: [CircuitRecord]
        fileprivate let reading: ReadingMoment
        /// Whether any process has the store open.
        package let hasWorkers: Bool
        fileprivate let board: BoardView

        package var count: Int { self.records.count }

        /// A circuit, with its rates as they are now: calls that are counted on the board don't change the file.
        package subscript(index: Int) -> InspectedCircuit {
            var record = self.records[index]
            record.stored.recent = self.board.rates(of: record.stored.row)
            return record.inspected(by: self.reading)
        }

        package func state(at index: Int) -> CircuitState { self.records[index].state(by: self.reading) }

        /// Whether the circuit only observes.
        package func mode(at index: Int) -> CircuitMode {
            self.records[index].stored.row.circuit.rules.isObserving ? .observing : .enforcing
        }

        /// How many live workers can't use the file just now.
        package var degradedWorkers: Int { self.board.degraded().count { self.reading.isAlive($0.worker) } }

        package func group(at index: Int) -> String? { self.records[index].stored.row.label }
    }

    /// The circuits now: the time and the living workers are taken anew.
    package func now() -> Moment {
        let reading = ReadingMoment(self.clock, isAlive: self.isAlive)
        return Moment(
            records: self.records, reading: reading, hasWorkers: self.workers.contains(where: reading.isAlive),
            board: BoardView(of: self.file, birth: self.birth, self.clock))
    }

    /// All circuits now, by name; their rates are those of the last look at the file.
    package func circuits() -> [InspectedCircuit] {
        let reading = ReadingMoment(self.clock, isAlive: self.isAlive)
        return self.records.map { $0.inspected(by: reading) }
    }
}

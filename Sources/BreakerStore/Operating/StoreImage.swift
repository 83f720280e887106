/// Circuits as the file had them at one time.
package struct StoreImage {
    let records: [CircuitRecord]
    /// Those whose rows can't be read, by name.
    package let unreadable: [UnreadableCircuit]
    /// The workers of the store, dead or alive.
    let workers: [Int64]
    let clock: StoreClock
    let isAlive: (Int64) -> Bool

    /// The circuits at one moment, by name; each is made when somebody asks for it.
    package struct Moment {
        fileprivate let records: [CircuitRecord]
        fileprivate let reading: ReadingMoment
        /// Whether any process has the store open.
        package let hasWorkers: Bool

        package var count: Int { self.records.count }

        package subscript(index: Int) -> InspectedCircuit { self.records[index].inspected(by: self.reading) }

        package func state(at index: Int) -> CircuitState { self.records[index].state(by: self.reading) }

        package func group(at index: Int) -> String? { self.records[index].stored.row.label }
    }

    /// The circuits now: the time and the living workers are taken anew.
    package func now() -> Moment {
        let reading = ReadingMoment(self.clock, isAlive: self.isAlive)
        let hasWorkers = self.workers.contains(where: reading.isAlive)
        return Moment(records: self.records, reading: reading, hasWorkers: hasWorkers)
    }

    /// All circuits now, by name.
    package func circuits() -> [InspectedCircuit] {
        let moment = self.now()
        return (0..<moment.count).map { moment[$0] }
    }
}

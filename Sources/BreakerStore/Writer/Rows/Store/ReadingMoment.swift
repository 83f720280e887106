#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The time, and which workers are alive, for the description of circuits as of one instant.
struct ReadingMoment {
    let now: StoreTime
    let date: (StoreTime) -> Date
    /// `now` as a date.
    let nowDate: Date
    let isAlive: (WorkerID) -> Bool

    init(_ clock: StoreClock, isAlive: @escaping (WorkerID) -> Bool) {
        self.now = clock.now
        self.date = clock.dates()
        self.nowDate = self.date(self.now)
        // Asks the kernel only once about each worker, so that all circuits get the same answer.
        let liveness = Liveness(isAlive)
        self.isAlive = { liveness[$0] }
    }

    /// The public state of a circuit, without the cost of a whole snapshot.
    func state(of row: CircuitRow) -> CircuitState {
        var circuit = row.circuit
        circuit.clampFutureStamps(for: self.now)
        return circuit.state(at: self.now, self.date)
    }

    private final class Liveness {
        private let ask: (WorkerID) -> Bool
        private var known: [WorkerID: Bool] = [:]

        init(_ ask: @escaping (WorkerID) -> Bool) { self.ask = ask }

        subscript(worker: WorkerID) -> Bool {
            if let known = self.known[worker] { return known }
            let isAlive = self.ask(worker)
            self.known[worker] = isAlive
            return isAlive
        }
    }
}

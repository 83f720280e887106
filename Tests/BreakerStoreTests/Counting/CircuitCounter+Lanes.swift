@testable import BreakerStore

extension CircuitCounter {
    func publish(_ lanes: borrowing Lanes) { self.publish(lanes.take()) }

    func count(_ end: BadEnd, by worker: Int64, epoch: Int64, lanes: borrowing Lanes, clock: () -> Int64) {
        self.count(end, by: worker, epoch: epoch, good: { $0(lanes.take()) }, clock: clock)
    }

    /// What is done each tick.
    func tick(_ lanes: borrowing Lanes, epoch: Int64, clock: () -> Int64) {
        if !lanes.isEmpty { self.lookFirst(epoch: epoch, clock: clock) }
        self.publish(lanes)
        _ = self.look(epoch: epoch, clock: clock)
    }
}

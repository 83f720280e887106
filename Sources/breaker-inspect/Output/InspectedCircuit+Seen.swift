import BreakerStore
import BreakerStoreJSON

extension InspectedCircuit {
    /// What JSON tells of the circuit.
    var seen: SeenCircuit {
        SeenCircuit(self.snapshot, failuresAtTrip: self.tripFailures?.count, tripReason: self.tripReason, at: self.now)
    }
}

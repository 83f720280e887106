import BreakerStore
import BreakerStoreJSON

extension InspectedCircuit {
    /// The circuit for JSON.
    var seen: SeenCircuit {
        SeenCircuit(self.snapshot, failuresAtTrip: self.tripFailures?.count, tripReason: self.tripReason, at: self.now)
    }
}

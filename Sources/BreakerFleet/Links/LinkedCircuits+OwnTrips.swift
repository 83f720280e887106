#if PostgreSQL
import BreakerStore

/// Reports the circuits that this host has opened by its own rules.
extension LinkedCircuits {
    /// Adds what has changed to the histories, once all circuits have registers.
    func recordOwnTrips(at registers: Registers) throws(FleetError) {
        defer { self.unrecorded = [] }
        do throws(FleetError) {
            try registers.record(self.unrecorded)
        } catch {
            // The history is for people: without it the link still obeys and reports.
            guard registers.connection.isOpen else { throw error }
            self.newTrouble = Trouble(text: "can't send its own trips: \(error.message)", code: error.code)
        }
    }

    /// What has changed since the last report; on a new connection everything.
    func ownChanges(to trips: [Registers.OwnTrip]) -> [Registers.OwnChange] {
        let known = self.publishedTrips.map { Names($0.keys) }
        let tripped = Names(trips.map(\.circuit))
        let new = trips.filter { !(known?.contains($0.circuit) ?? false) }
        let ended = (known ?? Names(self.links.keys)).subtracting(tripped)
        return new.map { .tripped($0) } + ended.sorted().map { .ended(circuit: $0) }
    }
}
#endif

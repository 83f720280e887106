#if PostgreSQL
import BreakerStore

/// Reports the circuits that this host has opened by its own rules to the histories at the server.
extension LinkedCircuits {
    /// The most circuits whose histories a heartbeat adds to: each is a row of the server, which takes 0.2 ms.
    static let maxRecorded = 200

    /// Remembers the circuits whose own trip has begun or ended since the last heartbeat.
    ///
    /// On a new connection these are all own trips, and those that the server still lists from an earlier connection.
    func noteOwnTrips(_ trips: [Registers.OwnTrip], before: Names) {
        let tripped = Names(trips.map(\.circuit))
        let isKnown = self.publishedTrips != nil
        let begun = isKnown ? tripped.subtracting(before) : tripped
        self.unrecorded = self.unrecorded.union(begun).union(before.subtracting(tripped))
    }

    /// Adds some of the remembered begins and ends to the histories, whose circuits have registers by now.
    func recordOwnTrips(at registers: Registers) throws(FleetError) {
        let names = self.unrecorded.sorted().prefix(Self.maxRecorded)
        let changes = names.map { name -> Registers.OwnChange in
            self.file.circuit(name, at: self.now)?.ownTrip.map { .tripped($0) } ?? .ended(circuit: name)
        }
        do throws(FleetError) {
            try registers.record(changes)
            self.unrecorded = self.unrecorded.subtracting(names)
        } catch {
            // The history is for people: without it the link still obeys and reports. The next heartbeat tries again.
            guard registers.connection.isOpen else { throw error }
            self.newTrouble = Trouble(text: "can't send its own trips: \(error.message)", code: error.code)
        }
    }
}
#endif

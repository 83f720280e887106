import BreakerStore
import BreakerStoreJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The content of a report, as of one instant.
struct Report {
    /// The most circuits on a page: browsers are slow to show more.
    private static let maxCircuits = 1_000
    private static let maxEvents = 1_000
    /// How many events are searched for outages.
    private static let maxEventsRead = 20_000

    let path: String
    let schema: String
    let fileSize: Int64
    let now: Date
    /// The circuits, those that refuse calls first.
    let circuits: [CircuitSnapshot]
    let leftOut: Int
    let states: StateCounts
    let unreadable: [UnreadableCircuit]
    let workers: [WorkerSnapshot]
    let live: LiveWorkers
    /// The events, the newest first.
    let events: [CircuitEvent]
    let eventsLeftOut: Int
    /// The time before which no event was read; nil if the whole history was read.
    let oldestRead: Date?
    let spells: [Spell]

    init(of inspection: StoreView, at path: String) throws(BreakerStoreError) {
        var states = StateCounts()
        let none = FirstCircuits<InspectedCircuit>(Self.maxCircuits) {
            ($0.snapshot.standing.urgency, $0.snapshot.name)
        }
        let found = try inspection.circuits(nil, into: none) {
            $0.append($1)
            states.add($1.snapshot.standing.urgency)
        }
        var first = found.value
        first.choose()
        let history = try inspection.history(of: nil, limit: Self.maxEventsRead)
        self.path = path
        self.schema = try inspection.schemaVersion()
        self.fileSize = inspection.fileSize
        self.now = inspection.now
        self.circuits = first.circuits.map(\.snapshot)
        self.leftOut = first.leftOut
        self.states = states
        self.unreadable = found.unreadable
        self.workers = try inspection.workers()
        self.live = found.live
        self.events = Array(history.prefix(Self.maxEvents))
        self.eventsLeftOut = history.count - self.events.count
        self.oldestRead = history.count == Self.maxEventsRead ? history.last?.at : nil
        self.spells = Spell.all(history.reversed(), first.circuits, now: inspection.now)
    }
}

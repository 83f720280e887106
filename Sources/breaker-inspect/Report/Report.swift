import BreakerStore
import BreakerStoreJSON

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The content of a report, as of one instant.
struct Report {
    /// Browsers are slow to show a page with more.
    private static let mostCircuits = 1_000
    private static let mostEvents = 1_000
    /// How many events are searched for outages.
    private static let mostEventsRead = 20_000

    let path: String
    let schema: String
    let fileSize: Int64
    let now: Date
    /// Circuits that refuse calls come first.
    let circuits: [CircuitSnapshot]
    let leftOut: Int
    let tally: StateCounts
    let unreadable: [UnreadableCircuit]
    let workers: [WorkerSnapshot]
    let live: LiveWorkers
    /// The newest first.
    let events: [CircuitEvent]
    let eventsLeftOut: Int
    /// No event before this time was read; nil if the whole history was.
    let oldestRead: Date?
    let spells: [Spell]

    init(of inspection: StoreView, at path: String) throws(BreakerStoreError) {
        var tally = StateCounts()
        let none = FirstCircuits<CircuitSnapshot>(Self.mostCircuits) { ($0.standing.urgency, $0.name) }
        let found = try inspection.circuits(nil, into: none) {
            $0.append($1.snapshot)
            tally.add($1.snapshot.standing.urgency)
        }
        var first = found.value
        first.choose()
        let history = try inspection.history(of: nil, limit: Self.mostEventsRead)
        self.path = path
        self.schema = try inspection.schemaVersion()
        self.fileSize = inspection.fileSize
        self.now = inspection.now
        self.circuits = first.circuits
        self.leftOut = first.leftOut
        self.tally = tally
        self.unreadable = found.unreadable
        self.workers = try inspection.workers()
        self.live = found.live
        self.events = Array(history.prefix(Self.mostEvents))
        self.eventsLeftOut = history.count - self.events.count
        self.oldestRead = history.count == Self.mostEventsRead ? history.last?.at : nil
        self.spells = Spell.all(history.reversed(), first.circuits, now: inspection.now)
    }
}

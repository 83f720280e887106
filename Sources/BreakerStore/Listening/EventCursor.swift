#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A place in the history of a file: the event that a reader has read last.
struct EventCursor: Hashable, Sendable {
    /// The number of the file that no other file has; nil if the file has not been read yet.
    var incarnation: Int64?
    /// The event's number; nil: the reader begins where listening to the file begins (`EventSource.origin`).
    var id: Int64?
    /// The event's time, by which a restored backup is recognized, for it repeats numbers; nil if it is unknown.
    var at: StoreTime?
}

/// The events after a cursor, oldest first.
struct EventPage: Sendable {
    /// How many rows of the history a page has at most.
    static let size = 1_000

    var events: [CircuitEvent] = []
    /// Where to read on.
    let end: EventCursor
    /// Whether the history had no later events.
    let isLast: Bool
}

extension StoreView {
    /// A cursor for a reader that knows all events up to `id`; nil: up to now.
    func cursor(after id: CircuitEvent.ID?) throws(BreakerStoreError) -> EventCursor {
        let id = if let id { try self.database.start(after: id) } else { try self.database.newestEvent() }
        return EventCursor(incarnation: self.incarnation, id: id, at: try self.database.time(ofEvent: id))
    }

    /// The events after a cursor, with a `.missed` in the place of those that were pruned.
    ///
    /// If the file is another one than the cursor's, the page begins with the file's oldest event. So it does if the
    /// file has returned to an earlier state, as by a restored backup: then a `.missed` comes first.
    ///
    /// - Parameter origin: the event after which a cursor without a number begins.
    func events(after cursor: EventCursor, from origin: Int64) throws(BreakerStoreError) -> EventPage {
        let newest = try self.database.newestEvent()
        var start = cursor.id ?? origin
        let time = try self.database.time(ofEvent: start)
        let isOfAnother = cursor.incarnation != nil && self.incarnation != nil && cursor.incarnation != self.incarnation
        // A time that is unknown, here or there, proves nothing.
        let isOtherEvent = if let time, let known = cursor.at { time != known } else { false }
        let isEarlier = !isOfAnother && (start > newest || isOtherEvent)
        let isRepeated = isEarlier && cursor.incarnation != nil
        if isOfAnother || isEarlier { start = 0 }
        let found = try self.database.events(after: start, limit: EventPage.size)
        let moment = self.moment
        var last = start
        var events: [CircuitEvent] = []
        if isRepeated {
            last = (found.events.first?.id ?? 1).subtractingSaturating(1)
            let time = found.events.first?.at ?? moment.now
            events.append(.missed("the file has returned to an earlier state", id: last, at: moment.date(time)))
        }
        for stored in found.events {
            let event = CircuitEvent(stored, self.isOwn, moment.date)
            let gap = stored.id.subtractingSaturating(last).subtractingSaturating(1)
            // A process has pruned these events before they were read.
            if gap > 0 {
                let reason = "\(gap) \(gap == 1 ? "event was" : "events were") lost"
                events.append(.missed(reason, id: stored.id.subtractingSaturating(1), at: event.at))
            }
            events.append(event)
            last = stored.id
        }
        // Rows that can't be read are passed over, too.
        let end = found.last ?? start
        let at = end == cursor.id && start == end ? time ?? cursor.at : found.events.last(where: { $0.id == end })?.at
        return EventPage(
            events: events, end: EventCursor(incarnation: self.incarnation ?? cursor.incarnation, id: end, at: at),
            isLast: found.last.map { $0 >= newest } ?? true)
    }
}

extension CircuitEvent {
    static func missed(_ reason: String, id: Int64, at date: Date) -> CircuitEvent {
        CircuitEvent(
            id: id, circuit: nil, kind: .missed, at: date, from: nil, to: nil, reason: reason, worker: nil, pid: nil,
            by: nil, isOwn: false)
    }
}

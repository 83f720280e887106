#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The events after a cursor, oldest first.
struct EventPage: Sendable {
    /// How many rows of the history a page has at most.
    static let size = 1_000

    var events: [CircuitEvent] = []
    /// Where the next page begins.
    let end: EventCursor
    /// Whether the history had no later events.
    let isLast: Bool
}

extension StoreView {
    /// How the file compares with the file that a cursor comes from.
    private enum Continuity {
        case sameFile
        case otherFile
        /// An earlier copy, such as a backup: it lacks the cursor's event, or has another event with the same row id.
        case earlierCopy
    }

    /// Reads the events after a cursor, with a `.missed` event in place of those that were deleted before.
    ///
    /// In another file, and in an earlier copy of the same file, the page begins with the file's oldest event. In an
    /// earlier copy a `.missed` event comes first, as the reader has had some of its events; all of another file's
    /// events are new.
    ///
    /// - Parameter origin: the event after which a cursor without a row id begins.
    func events(after cursor: EventCursor, from origin: Int64) throws(BreakerStoreError) -> EventPage {
        let newest = try self.database.newestEvent()
        let known = cursor.id ?? origin
        let time = try self.database.time(ofEvent: known)
        let continuity = self.continuity(of: cursor, at: known, time: time, newest: newest)
        let start = continuity == .sameFile ? known : 0
        let found = try self.database.events(after: start, limit: EventPage.size)
        let moment = self.moment
        var last = start
        var events: [CircuitEvent] = []
        // A reader that has not read a file yet has missed nothing.
        if continuity == .earlierCopy, cursor.incarnation != nil {
            last = (found.events.first?.id ?? 1).subtractingSaturating(1)
            let time = found.events.first?.at ?? moment.now
            events.append(.missed("the file has returned to an earlier state", id: last, at: moment.date(time)))
        }
        for stored in found.events {
            let event = CircuitEvent(stored, self.isOwn, moment.date)
            let gap = stored.id.subtractingSaturating(last).subtractingSaturating(1)
            if gap > 0 {
                let reason =
                    gap == 1
                    ? "1 event was deleted before it was read" : "\(gap) events were deleted before they were read"
                events.append(.missed(reason, id: stored.id.subtractingSaturating(1), at: event.at))
            }
            events.append(event)
            last = stored.id
        }
        // Includes rows that can't be read.
        let end = found.last ?? start
        // If nothing was read, in the same file, the known time stays. Else the time of the last row, nil if that can't
        // be read.
        let isUnmoved = end == cursor.id && start == end
        let at = isUnmoved ? time ?? cursor.at : found.events.last(where: { $0.id == end })?.at
        return EventPage(
            events: events, end: EventCursor(incarnation: self.incarnation ?? cursor.incarnation, id: end, at: at),
            isLast: found.last.map { $0 >= newest } ?? true)
    }

    /// - Parameters:
    ///   - id: the row id of the cursor's event.
    ///   - time: the time of the event with this row id; nil if the file has none.
    private func continuity(
        of cursor: EventCursor, at id: Int64, time: StoreTime?, newest: Int64
    ) -> Continuity {
        if let known = cursor.incarnation, let own = self.incarnation, known != own { return .otherFile }
        // A time that is unknown, here or there, proves nothing.
        let isOtherEvent = if let time, let known = cursor.at { time != known } else { false }
        return id > newest || isOtherEvent ? .earlierCopy : .sameFile
    }
}

extension CircuitEvent {
    /// An event in place of events that a reader does not get.
    static func missed(_ reason: String, id: Int64, at date: Date) -> CircuitEvent {
        CircuitEvent(
            id: id, circuit: nil, kind: .missed, at: date, from: nil, to: nil, reason: reason, worker: nil, pid: nil,
            by: nil, isOwn: false)
    }
}

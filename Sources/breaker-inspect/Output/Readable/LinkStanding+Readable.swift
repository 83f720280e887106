import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension LinkStanding {
    /// The link to other hosts in one sentence, for people; nil if there is none.
    func sentence(at now: Date) -> String? {
        switch self {
        case .none: nil
        case .begun: "a link to the other hosts has begun"
        case .reported(let note) where note.isJoined: "joined with the other hosts since \(Self.moment(note, now))"
        case .reported(let note):
            "cut off from the other hosts since \(Self.moment(note, now)), this host guards itself: \(note.reason)"
        case .gone(let note): "the fleet link is dead: its process \(note.pid) has ended; this host guards itself"
        }
    }

    private static func moment(_ note: LinkNote, _ now: Date) -> String {
        "\(note.since.readable) (\(max(.zero, now.since(note.since)).brief()) ago)"
    }

    /// Why this host does not reach the others; nil if it does, or has no link.
    func trouble(at now: Date) -> String? {
        switch self {
        case .reported(let note) where !note.isJoined: self.sentence(at: now)
        case .gone: self.sentence(at: now)
        case .none, .begun, .reported: nil
        }
    }

    /// The link for JSON.
    var seen: SeenLink? {
        func seen(_ health: SeenLink.Health, _ note: LinkNote) -> SeenLink {
            SeenLink(health, since: note.since, pid: note.pid, reason: note.reason.isEmpty ? nil : note.reason)
        }
        return switch self {
        case .none: nil
        case .begun: SeenLink(.begun)
        case .gone(let note): seen(.gone, note)
        case .reported(let note): seen(note.isJoined ? .joined : .cutOff, note)
        }
    }

    /// The last report of a link that runs, if there is one.
    var livingNote: LinkNote? { if case .reported(let note) = self { note } else { nil } }
}

extension CircuitEvent {
    /// Whether a link to other hosts made the event.
    var isOfFleet: Bool { LinkOrder.isOfFleet(self.by) }
}

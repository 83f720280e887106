import BreakerStore
import BreakerStoreJSON
import BreakerTool

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A period in which a circuit was in an outage, or held by an operator.
struct Spell {
    enum Kind: Equatable {
        case outage
        case held(HoldState)
    }

    let kind: Kind
    let circuit: String
    var start: Date
    /// The end; nil while the spell lasts.
    var end: Date?
    /// The event that began the spell; nil if the history does not reach back so far.
    let begunBy: CircuitEvent?
    /// The event that ended the spell, if there was one.
    var endedBy: CircuitEvent?
    /// Whether the spell is known to have begun at `start`, and not before.
    var isStartKnown: Bool
    /// Whether the spell ended at `end`, not before: only the next change records that a hold is over.
    var isEndKnown = true
    /// How many probes of an outage failed or expired, as far as the history shows.
    var failedProbes = 0
    /// The calls that failed or were refused in an outage; nil where counts were lost, or the history does not reach
    /// back to its start.
    var hurt: CircuitSnapshot.Hurt? = CircuitSnapshot.Hurt()
}

extension Spell {
    /// How long after the end of an outage processes may still publish what they refused before it.
    private static let timeToPublish = Duration.seconds(2)

    /// Whether `hurt` is complete at `now`.
    func isSettled(at now: Date) -> Bool { self.end.map { now.since($0) >= Self.timeToPublish } ?? false }

    /// What ended an outage, in words; nil while it lasts, and where unknown.
    var ending: String? {
        guard let event = self.endedBy else { return nil }
        // A command of a person on another host has that person's name behind it.
        if event.by == LinkOrder.fleet { return "the fleet" }
        switch event.kind {
        case .closed: return "a probe"
        case .forgotten: return "forgotten"
        default: return event.by.map { "\($0) (\(event.kind.rawValue))" } ?? event.kind.rawValue
        }
    }

    func seen(at now: Date) -> SeenOutage {
        SeenOutage(
            circuit: self.circuit, start: self.start, end: self.end, isStartKnown: self.isStartKnown,
            isEndKnown: self.isEndKnown, hurt: self.hurt,
            isSettled: self.isSettled(at: now), failedProbes: self.failedProbes, endedBy: self.ending)
    }

    /// The calls that the outage has hurt, in words.
    ///
    /// - Parameter failedProbes: how many of the failed calls were probes.
    func hurtCalls(_ failedProbes: Int) -> String {
        guard let hurt = self.hurt else { return "how many calls it hurt is unknown: counts were lost" }
        if failedProbes > 0 {
            return "\(hurt.failed) failed (\(failedProbes.counted("probe"))), \(hurt.refused) refused"
        }
        let were = hurt.refused == 1 ? "was" : "were"
        return "\(hurt.failed.counted("call")) failed, \(hurt.refused) \(were) refused"
    }

    /// The calls that the outage has hurt, in fewer words.
    var briefHurtCalls: String {
        self.hurt.map { "\($0.failed) failed, \($0.refused) refused" } ?? "unknown how many failed"
    }

    /// Adds the calls that an event ended, during the outage.
    fileprivate mutating func count(_ event: CircuitEvent) {
        guard let failed = event.failed, let refused = event.refused else {
            // Events that change no state count nothing; without the calls of one that does, the sum is unknown.
            if event.kind.endsCounting(by: event.by) { self.hurt = nil }
            return
        }
        self.hurt?.failed &+= failed
        self.hurt?.refused &+= refused
    }
}

extension CircuitEvent.Kind {
    /// Whether an event of this kind has the calls since the previous one.
    fileprivate func endsCounting(by operator: String?) -> Bool {
        // A hold that ends by time counts nothing.
        if self == .released { return `operator` != nil }
        return [.probing, .reopened, .closed, .reset, .extended, .held, .probeAllowed, .stateRestored].contains(self)
    }
}

extension Spell {
    /// The spells of a history, the newest first.
    ///
    /// - Parameters:
    ///   - events: in the order in which they happened; the oldest may be gone.
    ///   - circuits: circuits as they are now. They show spells that began before the oldest event, and those that
    ///     last.
    ///   - now: the time of the reading.
    static func all(_ events: [CircuitEvent], _ circuits: [InspectedCircuit], now: Date) -> [Spell] {
        var finder = SpellFinder()
        for event in events { finder.apply(event) }
        return finder.finish(circuits, now)
    }
}

/// Finds the spells of a history.
private struct SpellFinder {
    private struct Key: Hashable {
        /// Bytes: two names that are equal to Swift are two circuits.
        let circuit: [UInt8]
        let isHold: Bool

        init(_ circuit: String, isHold: Bool) {
            self.circuit = Array(circuit.utf8)
            self.isHold = isHold
        }
    }

    private var spells: [Spell] = []
    /// The indices in `spells` of those that last.
    private var lasting: [Key: Int] = [:]
    /// The indices in `spells` of outages after which the circuit has not changed yet.
    private var justEnded: [Key: Int] = [:]

    mutating func apply(_ event: CircuitEvent) {
        guard let circuit = event.circuit else { return }
        let outage = Key(circuit, isHold: false)
        let hold = Key(circuit, isHold: true)
        self.count(event, outage)
        switch event.kind {
        case .tripped:
            // A second trip without an end before it does not begin a new outage: the history has lost the end.
            if self.lasting[outage] == nil { self.begin(.outage, outage, circuit, event) }
        case .probing, .reopened, .probeExpired, .proberDied, .closed:
            // Only an outage has probes; if its trip is gone, the outage began before this event.
            if self.lasting[outage] == nil { self.begin(.outage, outage, circuit, event, isStartKnown: false) }
            if event.kind == .closed { return self.end(outage, event) }
            if event.kind != .probing, let index = self.lasting[outage] { self.spells[index].failedProbes += 1 }
        case .reset, .forgotten:
            self.end(outage, event)
            if event.to?.hasPrefix("held") != true { self.end(hold, event) }
        case .held:
            self.end(hold, event)
            self.begin(.held(event.to == "held-closed" ? .closed : .open), hold, circuit, event)
        case .released: self.end(hold, event)
        // The file is a new one: its history has no other event of this outage or hold.
        case .stateRestored:
            switch event.to {
            case "open": self.begin(.outage, outage, circuit, event, isStartKnown: false)
            case "held-open", "held-closed":
                let state = event.to == "held-closed" ? HoldState.closed : .open
                self.begin(.held(state), hold, circuit, event, isStartKnown: false)
            default: break
            }
        default: break
        }
    }

    /// Adds the calls since the previous event to the outage that they belong to.
    private mutating func count(_ event: CircuitEvent, _ outage: Key) {
        if let index = self.lasting[outage] {
            self.spells[index].count(event)
        } else if let index = self.justEnded[outage], let refused = event.refused {
            // A closed circuit refuses nothing: these refusals were published after the end.
            if event.from == "closed" { self.spells[index].hurt?.refused &+= refused }
            self.justEnded[outage] = nil
        }
    }

    private mutating func begin(
        _ kind: Spell.Kind, _ key: Key, _ circuit: String, _ event: CircuitEvent, isStartKnown: Bool = true
    ) {
        self.lasting[key] = self.spells.count
        self.spells.append(
            Spell(
                kind: kind, circuit: circuit, start: event.at, begunBy: isStartKnown ? event : nil,
                isStartKnown: isStartKnown, hurt: isStartKnown ? CircuitSnapshot.Hurt() : nil))
    }

    private mutating func end(_ key: Key, _ event: CircuitEvent) {
        guard let index = self.lasting.removeValue(forKey: key) else { return }
        if !key.isHold { self.justEnded[key] = index }
        self.spells[index].end = max(event.at, self.spells[index].start)
        // A process that finds a hold over records its end, however late.
        let isOverByItself = event.kind == .released && event.by == nil
        self.spells[index].endedBy = isOverByItself ? nil : event
        self.spells[index].isEndKnown = !isOverByItself
    }

    consuming func finish(_ circuits: [InspectedCircuit], _ now: Date) -> [Spell] {
        for inspected in circuits {
            let circuit = inspected.snapshot
            let isOpen = circuit.unheldState.isOpen || circuit.unheldState == .halfOpen
            self.settle(.outage, circuit, since: circuit.trippedSince ?? (isOpen ? circuit.since : nil))
            let outage = Key(circuit.name, isHold: false)
            if let index = self.justEnded[outage], let late = inspected.hurtSinceChange {
                self.spells[index].hurt?.refused &+= late.refused
            }
            self.settle(circuit.hold.map { .held($0.state) } ?? .held(.open), circuit, since: circuit.hold?.since)
        }
        // Spells that last only in the history, of circuits that are closed, gone, or can't be read.
        for index in self.lasting.values {
            self.spells[index].end = now
            self.spells[index].isEndKnown = false
            self.spells[index].hurt = nil
        }
        return self.spells.sorted { $0.start > $1.start }
    }

    /// Makes the spells of one circuit agree with its state now.
    private mutating func settle(_ kind: Spell.Kind, _ circuit: CircuitSnapshot, since: Date?) {
        let key = Key(circuit.name, isHold: kind != .outage)
        guard let since else { return }
        // Without `trippedSince`, the circuit's last change is the only time that is known of an outage.
        let isStartKnown = kind != .outage || circuit.trippedSince != nil
        if let index = self.lasting.removeValue(forKey: key) {
            if !self.spells[index].isStartKnown { self.spells[index].start = since }
            if isStartKnown { self.spells[index].isStartKnown = true }
            self.spells[index].hurt = circuit.hurt
        } else {
            self.spells.append(
                Spell(
                    kind: kind, circuit: circuit.name, start: since, begunBy: nil, isStartKnown: isStartKnown,
                    hurt: circuit.hurt))
        }
    }
}

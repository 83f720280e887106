import BreakerStore

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
}

extension Spell {
    /// The spells of a history, the newest first.
    ///
    /// - Parameters:
    ///   - events: in the order in which they happened; the oldest may be gone.
    ///   - circuits: the current circuits. They show spells that began before the oldest event, and spells that last.
    ///   - now: the time of the reading.
    static func all(_ events: [CircuitEvent], _ circuits: [CircuitSnapshot], now: Date) -> [Spell] {
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

    mutating func apply(_ event: CircuitEvent) {
        guard let circuit = event.circuit else { return }
        let outage = Key(circuit, isHold: false)
        let hold = Key(circuit, isHold: true)
        switch event.kind {
        case .tripped:
            // A second trip without an end before it does not begin a new outage: the history has lost the end.
            if self.lasting[outage] == nil { self.begin(.outage, outage, circuit, event) }
        case .probing, .reopened, .probeExpired, .closed:
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

    private mutating func begin(
        _ kind: Spell.Kind, _ key: Key, _ circuit: String, _ event: CircuitEvent, isStartKnown: Bool = true
    ) {
        self.lasting[key] = self.spells.count
        self.spells.append(
            Spell(
                kind: kind, circuit: circuit, start: event.at, begunBy: isStartKnown ? event : nil,
                isStartKnown: isStartKnown))
    }

    private mutating func end(_ key: Key, _ event: CircuitEvent) {
        guard let index = self.lasting.removeValue(forKey: key) else { return }
        self.spells[index].end = max(event.at, self.spells[index].start)
        // A process that finds a hold over records its end, however late.
        let isOverByItself = event.kind == .released && event.by == nil
        self.spells[index].endedBy = isOverByItself ? nil : event
        self.spells[index].isEndKnown = !isOverByItself
    }

    consuming func finish(_ circuits: [CircuitSnapshot], _ now: Date) -> [Spell] {
        for circuit in circuits {
            let isOpen = circuit.unheldState.isOpen || circuit.unheldState == .halfOpen
            self.settle(.outage, circuit, since: circuit.trippedSince ?? (isOpen ? circuit.since : nil))
            self.settle(circuit.hold.map { .held($0.state) } ?? .held(.open), circuit, since: circuit.hold?.since)
        }
        // Spells that last only in the history, of circuits that are closed or gone.
        for index in self.lasting.values {
            self.spells[index].end = now
            self.spells[index].isEndKnown = false
        }
        return self.spells.sorted { $0.start > $1.start }
    }

    /// Makes the spells of one circuit agree with its state now.
    private mutating func settle(_ kind: Spell.Kind, _ circuit: CircuitSnapshot, since: Date?) {
        let key = Key(circuit.name, isHold: kind != .outage)
        guard let since else { return }
        if let index = self.lasting.removeValue(forKey: key) {
            if !self.spells[index].isStartKnown { self.spells[index].start = since }
        } else {
            self.spells.append(
                Spell(kind: kind, circuit: circuit.name, start: since, begunBy: nil, isStartKnown: true))
        }
    }
}

extension CircuitSnapshot {
    /// The state that calls would meet without a hold.
    fileprivate var unheldState: CircuitState { self.beneath ?? self.state }
}

import BreakerStore
import BreakerStoreJSON

extension InspectedCircuit {
    /// The circuit for JSON.
    var seen: SeenCircuit {
        var seen = SeenCircuit(
            self.snapshot, failuresAtTrip: self.tripFailures?.count, tripReason: self.tripReason, at: self.now)
        seen.tripsWithinHour = self.tripsWithinHour
        return seen
    }

    /// The circuit for JSON, with its rules and outages.
    func seen(withRulesAnd outages: [Spell]) -> SeenCircuit {
        var seen = self.seen
        seen.rules = self.rules.map(JSONValue.init) ?? .null
        seen.outages = outages.map { $0.seen(at: self.now) }
        seen.lostProbes = self.lostProbes.map { ($0.probe, $0.isDead) }
        return seen
    }
}

extension JSONValue {
    fileprivate init(_ scanned: ScannedValue) {
        switch scanned.kind {
        case .object(let members):
            // The scanner has rejected objects with the same key twice.
            self = .object(Dictionary(members.map { ($0.name, JSONValue($0.value)) }) { first, _ in first })
        case .array(let values): self = .array(values.map { JSONValue($0) })
        case .string(let bytes): self = .string(String(decoding: bytes, as: UTF8.self))
        case .number: self = scanned.integer.map(Self.integer) ?? scanned.number.map(Self.number) ?? .null
        case .boolean(let value): self = .bool(value)
        case .null: self = .null
        }
    }
}

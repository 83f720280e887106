import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// The doctor's checks of circuits that need a person: forgotten holds, and circuits that flap.
enum CircuitChecks {
    private static let longestHold = Duration.seconds(86_400)
    private static let namesShown = 5

    private struct Found {
        var holds: [String] = []
        var flapping: [(trips: Int, name: String)] = []
    }

    /// Notes on holds that are older than a day or hold a circuit open without an end, and on circuits that flap.
    static func findings(in context: Context) -> [Finding] {
        // If the file can't be read, the other checks have said why.
        let all = try? Selection([], isExact: false)
        let found = try? all?.gather(into: Found(), countingWorkers: false, in: context) { found, circuit in
            let name = circuit.snapshot.name.escaped
            if circuit.flaps { found.flapping.append((circuit.tripsWithinHour, name)) }
            guard let hold = circuit.snapshot.hold else { return }
            let isEndless = hold.state == .open && hold.until == nil
            guard isEndless || circuit.now.since(hold.since) > Self.longestHold else { return }
            found.holds.append("\(name) is \(hold.sentence(at: circuit.now))")
        }
        guard let found = found?.value else { return [] }
        // The most trips first, then by name.
        let flapping = found.flapping.sorted { ($1.trips, $0.name) < ($0.trips, $1.name) }
        return [
            Self.note(
                "holds", found.holds.sorted(),
                "'\(Tool.name) release NAME' takes a hold off; 'hold --for' gives it an end"),
            Self.note(
                "flapping", flapping.map { "\($0.name) has tripped \($0.trips) times within the last hour" },
                "calls fail again after each probe: look at the service; '\(Tool.name) history NAME --outages' shows when"
            ),
        ].compactMap(\.self)
    }

    private static func note(_ check: String, _ texts: [String], _ advice: String) -> Finding? {
        guard !texts.isEmpty else { return nil }
        let more = texts.count > Self.namesShown ? "; and \(texts.count - Self.namesShown) more" : ""
        return .note(check, texts.prefix(Self.namesShown).joined(separator: "; ") + more, advice)
    }
}

import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// The doctor's check of holds that may be forgotten.
enum HoldCheck {
    private static let longest = Duration.seconds(86_400)
    private static let namesShown = 5

    /// The holds that are older than a day, and those that hold a circuit open without an end; nil without any.
    static func finding(in context: Context) -> Finding? {
        let all = try? Selection([], isExact: false)
        let found = try? all?.gather(into: [String](), countingWorkers: false, in: context) { texts, circuit in
            guard let hold = circuit.snapshot.hold else { return }
            let isEndless = hold.state == .open && hold.until == nil
            guard isEndless || circuit.now.since(hold.since) > Self.longest else { return }
            texts.append("\(circuit.snapshot.name.escaped) is \(hold.sentence(at: circuit.now))")
        }
        guard let texts = found?.value.sorted(), !texts.isEmpty else { return nil }
        let more = texts.count > Self.namesShown ? "; and \(texts.count - Self.namesShown) more" : ""
        return .note(
            "holds", texts.prefix(Self.namesShown).joined(separator: "; ") + more,
            "'\(Tool.name) release NAME' takes a hold off; 'hold --for' gives it an end")
    }
}

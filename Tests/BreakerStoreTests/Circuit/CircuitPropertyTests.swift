import FoundationEssentials
import Testing

@testable import BreakerStore

/// Random histories: the machine and a plain model of the design never disagree.
///
/// BREAKERSTORE_SEED=<number> repeats one history.
@Suite(.timeLimit(.minutes(10))) struct CircuitPropertyTests {
    static let histories = 10_000
    static let steps = 100

    @Test func machineAndModelAgree() {
        if let text = ProcessInfo.processInfo.environment["BREAKERSTORE_SEED"] {
            guard let seed = UInt64(text) else {
                Issue.record("BREAKERSTORE_SEED is no number: \(text)")
                return
            }
            _ = self.agree(seed: seed)
            return
        }
        var seen: [CircuitEvent.Kind: Int] = [:]
        for seed in 0..<UInt64(Self.histories) {
            guard let history = self.agree(seed: seed) else { return }
            seen.merge(history.seen, uniquingKeysWith: +)
        }
        // Histories in which nothing happens prove nothing.
        let kinds: [CircuitEvent.Kind] = [
            .tripped, .probing, .probeExpired, .proberDied, .reopened, .closed, .reset, .held, .probeAllowed, .released,
            .configured,
        ]
        for kind in kinds { #expect(seen[kind, default: 0] > 500, "\(kind)") }
    }

    /// Runs one history, and again with a log if it fails.
    private func agree(seed: UInt64) -> RandomHistory? {
        var history = RandomHistory(seed: seed)
        do {
            try history.run(steps: Self.steps)
            return history
        } catch {
            var again = RandomHistory(seed: seed, logging: true)
            try? again.run(steps: Self.steps)
            let log = (again.log?.lines ?? []).joined(separator: "\n")
            Issue.record("BREAKERSTORE_SEED=\(seed): \(error)\n\(log)")
            return nil
        }
    }
}

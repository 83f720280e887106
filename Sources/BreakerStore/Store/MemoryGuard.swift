import Synchronization

/// Circuits in this process's memory, for as long as the file can't be used, and what the file is to be told afterwards.
final class MemoryGuard: Sendable {
    /// A report that could not be committed.
    struct Kept: Sendable {
        let config: CircuitBreaker.Config
        let telling: Telling
        /// When the call ended: the file may tell another offset than the one that was known then.
        let uptime: Int64
    }

    private struct State {
        var circuits: [CircuitName: Circuit] = [:]
        var kept: [Kept] = []
    }

    /// The newest count most: older ones go, some at a time.
    private static let mostKept = 10_000
    private static let goneAtOnce = 1_000

    private let state = Mutex(State())
    /// Whether there will be a file to tell: not after `close`, nor in a child of `fork`.
    private let keepsReports: Bool

    init(keepsReports: Bool = true) { self.keepsReports = keepsReports }

    /// Applies one event of the machine.
    func change<Value>(
        _ name: String,
        rules: @autoclosure () -> Rules,
        at now: StoreTime,
        _ event: (inout Circuit, Moment) -> Value
    ) -> Value {
        self.state.withLock {
            let rules = rules()
            var circuit = $0.circuits[CircuitName(name)] ?? Circuit(rules: rules, at: now)
            circuit.rules = rules
            let value = event(&circuit, Moment(now: now, draw: .random(in: 0..<1)))
            _ = circuit.takeTransitions()
            $0.circuits[CircuitName(name)] = circuit
            return value
        }
    }

    /// Keeps a report for the file, with its key and its time.
    func keep(_ report: Kept) {
        guard self.keepsReports else { return }
        self.state.withLock {
            if $0.kept.count >= Self.mostKept { $0.kept.removeFirst(Self.goneAtOnce) }
            $0.kept.append(report)
        }
    }

    /// Hands over what was kept, oldest first.
    func takeKept() -> [Kept] {
        self.state.withLock { state in
            defer { state.kept.removeAll() }
            return state.kept
        }
    }

    /// Forgets the circuits: the file rules again.
    func forgetCircuits() { self.state.withLock { $0.circuits.removeAll() } }
}

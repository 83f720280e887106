import BreakerStore
import BreakerTool

/// `probe --wait`: waits for the end of the probe of one circuit, and says how it ended.
struct ProbeWait {
    /// How often the file is checked for changes.
    private static let interval = Duration.milliseconds(100)

    private let circuit: String
    private let budget: Duration

    /// Nil without `--wait`.
    init?(_ arguments: Arguments) throws(Failure) {
        guard let budget = try arguments.duration(ProbeVerb.wait) else { return nil }
        guard let name = arguments.operands.first, arguments.operands.count == 1,
            arguments.has(.exact) || !CircuitSelector.isPattern(name)
        else { throw .usage("'probe --wait' takes one circuit's name", verb: ProbeVerb.name) }
        guard !arguments.has(.dryRun), !arguments.has(.json) else {
            throw .usage("'probe --wait' takes neither '--dry-run' nor '--json'", verb: ProbeVerb.name)
        }
        self.circuit = name
        self.budget = budget
    }

    /// The id of the newest event so far.
    func newestEvent(in context: Context) throws(Failure) -> Int64 {
        try context.reading { (store) throws(BreakerStoreError) in
            try store.view { (view) throws(BreakerStoreError) in try view.newestEvent() }
        }
    }

    /// Waits until the circuit closes or opens again, unless it refuses and admits calls without any probe.
    func wait(after newest: Int64, in context: Context) throws(Failure) -> ExitCode {
        let end = context.uptime + self.budget
        return try context.watching { (watch) throws(Failure) in
            var newest = newest
            while true {
                let found: (events: [CircuitEvent], isProbing: Bool)?
                do throws(BreakerStoreError) {
                    found = try watch.inspectIfChanged { (view, isAnotherFile) throws(BreakerStoreError) in
                        let events = try view.history(of: self.circuit, after: isAnotherFile ? 0 : newest, limit: 1_000)
                        let circuits = try view.circuits([.named(self.circuit)], countingWorkers: false, into: true) {
                            $0 = $1.snapshot.isProbingOrDue
                        }
                        return (events, circuits.value)
                    }
                } catch {
                    throw context.failure(error)
                }
                if let found {
                    let ending = found.events.sorted { $0.id < $1.id }.first {
                        $0.kind == .closed || $0.kind == .reopened
                    }
                    if let ending { return self.report(ending, in: context) }
                    newest = found.events.map(\.id).max() ?? newest
                    // Nothing comes of a circuit that is closed or held.
                    guard found.isProbing else { return .done }
                }
                let left = end - context.uptime
                guard left > .zero else {
                    context.console.writeError(
                        "\(Tool.name): no probe of \(self.circuit.quoted) has ended within \(self.budget.readable)\n")
                    return .timedOut
                }
                _ = context.console.pause(for: min(Self.interval, left), listening: false)
            }
        }
    }

    private func report(_ event: CircuitEvent, in context: Context) -> ExitCode {
        let isClosed = event.kind == .closed
        let probe = "the probe of \(EventLine(event).who)"
        let reason = event.reason.map { ": \($0.escaped)" } ?? ""
        let text = isClosed ? "closed: \(probe) has succeeded" : "open again: \(probe) has failed\(reason)"
        context.console.writeLines("\(self.circuit.escaped)  \(text)\n", hanging: 4)
        return isClosed ? .done : .notClosed
    }
}

extension CircuitSnapshot {
    /// Whether a call may be a probe now, or is one.
    fileprivate var isProbingOrDue: Bool {
        guard self.hold == nil else { return false }
        if case .halfOpen = self.state { return true }
        return self.isDue
    }
}

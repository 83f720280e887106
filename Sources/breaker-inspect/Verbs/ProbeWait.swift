import BreakerStore
import BreakerStoreJSON
import BreakerTool

/// `probe --wait`: waits for the end of the probe of one circuit, and says how it ended.
struct ProbeWait {
    /// How often the file is checked for changes.
    private static let interval = Duration.milliseconds(100)

    private let name: String
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
        self.name = name
        self.budget = budget
    }

    /// The id of the newest event so far.
    func newestEvent(in context: Context) throws(Failure) -> Int64 {
        try context.reading { (store) throws(BreakerStoreError) in
            try store.view { (view) throws(BreakerStoreError) in try view.newestEvent() }
        }
    }

    private func circuit(in view: StoreView) throws(BreakerStoreError) -> InspectedCircuit? {
        try view.circuits([.named(self.name)], countingWorkers: false, into: nil as InspectedCircuit?) { $0 = $1 }.value
    }

    /// Waits until the circuit closes or opens again, or no probe can come any more.
    func wait(after newest: Int64, in context: Context) throws(Failure) -> ExitCode {
        let end = context.uptime + self.budget
        return try context.watching { (watch) throws(Failure) in
            var newest = newest
            while true {
                let found: (events: [CircuitEvent], circuit: InspectedCircuit?)?
                do throws(BreakerStoreError) {
                    found = try watch.inspectIfChanged { (view, isAnotherFile) throws(BreakerStoreError) in
                        let events = try view.history(of: self.name, after: isAnotherFile ? 0 : newest, limit: 1_000)
                        return (events, try self.circuit(in: view))
                    }
                } catch {
                    throw context.failure(error)
                }
                if let found {
                    let events = found.events.sorted { $0.id < $1.id }
                    if let ending = events.first(where: { $0.kind == .closed || $0.kind == .reopened }) {
                        return self.report(ending, in: context)
                    }
                    newest = events.last?.id ?? newest
                    guard let circuit = found.circuit else {
                        throw Failure(.noSuchCircuit, "\(self.name.quoted) is no longer there")
                    }
                    guard circuit.mayProbe else {
                        return self.report(circuit, events.last { $0.from != $0.to }, in: context)
                    }
                }
                let left = end - context.uptime
                guard left > .zero else {
                    context.console.writeError(
                        "\(Tool.name): no probe of \(self.name.quoted) has ended within \(self.budget.readable)\n")
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
        self.write(
            isClosed ? "closed: \(probe) has succeeded" : "open again: \(probe) has failed\(reason)", in: context)
        return isClosed ? .done : .notClosed
    }

    /// Reports what the circuit does in place of a probe.
    ///
    /// - Parameter event: the change that made the circuit so during the wait; nil if it was so before, as the command
    ///   has printed.
    private func report(_ circuit: InspectedCircuit, _ event: CircuitEvent?, in context: Context) -> ExitCode {
        if let event {
            let line = EventLine(event)
            let reason = line.reason.isEmpty ? "" : ": \(line.reason)"
            self.write("\(circuit.snapshot.standing.text): \(line.what) by \(line.who)\(reason)", in: context)
        }
        switch circuit.snapshot.state {
        case .closed, .held(.closed, until: _): return .done
        case .open, .halfOpen, .held(.open, until: _): return .notClosed
        }
    }

    private func write(_ text: String, in context: Context) {
        context.console.writeLines("\(self.name.escaped)  \(text)\n", hanging: 4)
    }
}

extension InspectedCircuit {
    /// Whether a call may be a probe now, or is one.
    fileprivate var mayProbe: Bool {
        guard self.snapshot.hold == nil else { return false }
        if case .halfOpen = self.snapshot.state { return true }
        return self.snapshot.isDue
    }
}

extension SharedCircuit {
    /// The circuit as this process last read it in the file: for refusals, and for the in-memory fallback to begin
    /// with.
    final class LastRead: Sendable {
        let id: Int64
        let incarnation: Int64
        let group: String?
        let lastError: String?
        /// The epoch when the file was last read.
        let epoch: Epoch
        let windowGeneration: WindowGeneration
        /// The rules that were in force then.
        let rules: Rules
        private let forgottenUntil: StoreTime?
        /// The circuit without its probes; nil if it was closed and not held, as most circuits of a process are.
        private let unusual: Boxed<Circuit>?
        /// The hold by which the circuit refused calls then, in the form that refusals have.
        let refusingHold: Boxed<CircuitSnapshot.Hold>?
        /// Store time less uptime, because a file that replaces this one has another clock.
        let offset: Int64

        /// - Parameter row: the row as of `now`, after `clampFutureStamps`.
        init(_ row: CircuitRow, at now: StoreTime, _ clock: StoreClock) {
            let circuit = row.circuit
            self.id = row.id
            self.incarnation = row.incarnation
            self.group = row.group
            self.lastError = circuit.lastError
            self.epoch = circuit.epoch
            self.windowGeneration = circuit.windowGeneration
            self.rules = circuit.rules
            self.forgottenUntil = circuit.forgottenUntil
            // Made here, so that a refusal by the cached decision has nothing to convert.
            self.refusingHold = circuit.holdOpen(at: now).map { .value(CircuitSnapshot.Hold($0, clock.dates())) }
            self.offset = clock.offset
            guard circuit.state != .closed || circuit.hold != nil else {
                self.unusual = nil
                return
            }
            var unusual = circuit
            unusual.probes = []
            self.unusual = .value(unusual)
        }

        func isSame(as other: LastRead) -> Bool {
            self.epoch == other.epoch && self.windowGeneration == other.windowGeneration
                && self.incarnation == other.incarnation
                && self.hasConfig(of: other) && self.lastError == other.lastError
                && self.forgottenUntil == other.forgottenUntil && self.offset == other.offset
                && self.unusual == other.unusual && self.refusingHold == other.refusingHold
        }

        func hasConfig(of other: LastRead) -> Bool { self.rules == other.rules && self.group == other.group }

        /// The circuit, without its probes.
        ///
        /// A closed circuit without a hold is made up from the rules and the epoch: its other values are not kept.
        var circuit: Circuit {
            self.unusual?.value
                ?? Circuit(rules: self.rules, state: .closed, since: StoreTime(microseconds: 0), epoch: self.epoch)
        }

        /// Whether the circuit was held, or not closed.
        var isUnusual: Bool { self.unusual != nil }

        /// The operator's hold; nil without one.
        var hold: Circuit.Hold? { self.unusual?.value.hold }

        /// The circuit with which the in-memory fallback begins, in an epoch of its own.
        ///
        /// A half-open circuit becomes open and due: the fallback does not know which workers probe.
        ///
        /// - Parameters:
        ///   - offset: store time less uptime, now.
        ///   - own: the failures that this process has reported.
        func inMemory(at now: StoreTime, offset: Int64, _ own: OwnFailures) -> CircuitInMemory {
            var circuit =
                self.unusual?.value.shifted(by: offset.subtractingSaturating(self.offset))
                ?? Circuit(rules: self.rules, at: now)
            circuit.epoch = Epoch(at: now)
            circuit.lastError = self.lastError
            switch circuit.state {
            case .closed, .open: break
            case .halfOpen: circuit.state = .open(until: now)
            case .unknown: circuit.state = .closed
            }
            return CircuitInMemory(circuit, own.failures(inEpoch: self.epoch, after: self.forgottenUntil))
        }
    }
}

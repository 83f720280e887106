/// The permission for one call, as a value that another process can report with.
///
/// A `CallPermit` belongs to the process that got it. This value has all that any process of this boot needs to report
/// the outcome, so a command can get one, and a later command can finish it.
package struct PortablePermit: Hashable, Sendable {
    /// Which answer of the circuit let the call through.
    package enum Source: String, CaseIterable, Sendable {
        case closed
        /// The closed circuit under the consecutive rule.
        case closedConsecutive
        case probe
        /// Held closed, observing, or in a state or under a rule that this release does not know: the call counts in
        /// the totals alone.
        case uncounted
        /// Nothing is to be reported: the store could not be used, or the call is a part of a probe.
        case unreported
    }

    package var source: Source
    /// The epoch of the circuit that let the call through.
    package var epoch: Epoch
    /// The probe's token; 0 for other calls.
    package var token: Int64
    /// The incarnation of the file: in another file the epoch means nothing.
    package var incarnation: Int64
    /// A hash of the id of the boot, whose uptime `began` is.
    package var boot: UInt32
    /// The uptime in microseconds at which the call was let through.
    package var began: Int64
    /// The random sequence of the report, by which a failure counts once, however often it is reported.
    package var reportKey: Int64

    /// The permit of a call of which nothing is to be reported.
    package static let unreported = PortablePermit(
        source: .unreported, epoch: 0, token: 0, incarnation: 0, boot: 0, began: 0, reportKey: 0)

    package init(
        source: Source, epoch: Epoch, token: Int64, incarnation: Int64, boot: UInt32, began: Int64, reportKey: Int64
    ) {
        self.source = source
        self.epoch = epoch
        self.token = token
        self.incarnation = incarnation
        self.boot = boot
        self.began = began
        self.reportKey = reportKey
    }

    /// The permit once another process holds the probe's slot (`CircuitStore.handOverWorker`).
    package func held(by process: RunningProcess) -> PortablePermit {
        var held = self
        held.token = process.marking(self.token)
        return held
    }

    /// What became of the report of a permit.
    package enum FinishResult: Hashable, Sendable {
        /// The outcome was reported; also if the permit is one of which nothing is to be reported.
        case done
        /// Nothing was counted: the permit was finished before, or the circuit has changed since.
        case late
        /// Nothing was counted: the permit is of another boot, or of a file that is no longer the store's.
        case ofAnotherBootOrFile
    }
}

extension Admission {
    init(_ permit: PortablePermit) {
        let source: Source =
            switch permit.source {
            case .closed: .closed
            case .closedConsecutive: .closedConsecutive
            case .probe: .probe
            case .uncounted, .unreported: .uncounted
            }
        self.init(source, epoch: permit.epoch, token: permit.token)
    }
}

extension PortablePermit.Source {
    init(_ source: Admission.Source) {
        self =
            switch source {
            case .closed: .closed
            case .closedConsecutive: .closedConsecutive
            case .probe: .probe
            case .uncounted, .observed: .uncounted
            case .closedInMemory, .probeInMemory: .unreported
            }
    }
}

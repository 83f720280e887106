/// The permission for one call, as a value that another process can report with.
///
/// A `CallPermit` belongs to the process that got it. A ticket has all that any process of this boot needs to report
/// the outcome, so a command can get one, and a later command can finish it.
package struct CallTicket: Hashable, Sendable {
    /// The source of the permission, as in an admission of this process.
    package enum Source: String, CaseIterable, Sendable {
        case closed
        /// The closed circuit under the consecutive rule.
        case closedConsecutive
        case probe
        /// Held closed, or in a state or under a rule that this release does not know.
        case uncounted
        case observed
        /// The in-memory fallback, because the store could not be used: no other process knows of the call.
        case none
    }

    package var source: Source
    /// The epoch of the circuit that let the call through.
    package var epoch: Epoch
    /// The probe's token; 0 for other calls.
    package var token: Int64
    /// The incarnation of the file: in another file the epoch means nothing.
    package var incarnation: Int64
    /// Identifies the boot, whose uptime `began` is.
    package var boot: UInt32
    /// The uptime in microseconds at which the call was let through.
    package var began: Int64
    /// The random sequence of the report, by which a failure counts once, however often it is reported.
    package var key: Int64

    package init(
        source: Source, epoch: Epoch = 0, token: Int64 = 0, incarnation: Int64 = 0, boot: UInt32 = 0, began: Int64 = 0,
        key: Int64 = 0
    ) {
        self.source = source
        self.epoch = epoch
        self.token = token
        self.incarnation = incarnation
        self.boot = boot
        self.began = began
        self.key = key
    }

    /// What became of a report.
    package enum Report: Hashable, Sendable {
        /// The outcome counts, or there is nothing to count.
        case counted
        /// The ticket was finished before, or the circuit has changed since: nothing was counted.
        case late
        /// The ticket is of another boot, or of a file that is no longer the store's: nothing was counted.
        case ofAnotherFile
    }
}

extension Admission {
    init(_ ticket: CallTicket) {
        let source: Source =
            switch ticket.source {
            case .closed: .closed
            case .closedConsecutive: .closedConsecutive
            case .probe: .probe
            case .uncounted, .none: .uncounted
            case .observed: .observed
            }
        self.init(source, epoch: ticket.epoch, token: ticket.token)
    }
}

extension CallTicket.Source {
    init(_ source: Admission.Source) {
        self =
            switch source {
            case .closed: .closed
            case .closedConsecutive: .closedConsecutive
            case .probe: .probe
            case .uncounted: .uncounted
            case .observed: .observed
            case .closedInMemory, .probeInMemory: .none
            }
    }
}

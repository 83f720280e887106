/// The permission for one call, with all that its end must know.
///
/// Four words, so that a healthy call gets its leave in CPU registers.
@usableFromInline
struct Leave: Sendable {
    /// The source of the permission.
    enum Source: UInt8 {
        /// The closed circuit.
        case closed
        /// The closed circuit under the consecutive rule, where a success may have failures to forget.
        case closedConsecutive
        /// A slot for a probe.
        case probe
        /// A circuit that is held closed, or a circuit that observes and would refuse the call if it enforced: no
        /// report reaches its rules.
        case uncounted
        /// The closed circuit in memory, while the file can't be used.
        case closedInMemory
        /// A probe's slot of the circuit in memory.
        case probeInMemory
    }

    let source: Source
    /// The epoch of the circuit that let the call through.
    let epoch: Int64
    /// The probe's token; 0 for other calls.
    let token: Int64
    /// The uptime at which the operation begins; `notMeasured` if the call is not measured.
    var began = Self.notMeasured

    private static let notMeasured = Int64.min
    static let uncounted = Leave(.uncounted, epoch: 0)

    init(_ source: Source, epoch: Int64, token: Int64 = 0) {
        self.source = source
        self.epoch = epoch
        self.token = token
    }

    @usableFromInline
    var isMeasured: Bool { self.began != Self.notMeasured }

    /// Whether a good end of the call counts in the windows of the rules: a closed circuit must have let it through.
    ///
    /// A probe's success closes the circuit, and so begins a new window, in which the probe must not count. A call
    /// through a circuit that is held closed would be in the window when the hold is over: the end of a hold by time
    /// makes no new epoch.
    var isInWindow: Bool {
        switch self.source {
        case .closed, .closedConsecutive, .closedInMemory: true
        case .uncounted, .probe, .probeInMemory: false
        }
    }

    var isProbe: Bool {
        switch self.source {
        case .probe, .probeInMemory: true
        case .closed, .closedConsecutive, .uncounted, .closedInMemory: false
        }
    }
}

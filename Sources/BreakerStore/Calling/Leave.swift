/// Leave to make one call, with what the end of the call must know.
///
/// Four words, so that a healthy call is handed its leave in registers.
@usableFromInline
struct Leave: Sendable {
    /// What let the call through.
    enum Source: UInt8 {
        /// The closed circuit.
        case closed
        /// The same under the consecutive rule, where a success may have failures to forget.
        case closedConsecutive
        /// A slot for a probe.
        case probe
        /// A circuit that is held closed, or one that observes and would refuse the call if it enforced: nothing that
        /// the circuit decides by is reported.
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
    /// The uptime at which the operation begins; `notMeasured` where nobody asks how long it takes.
    var began = Self.notMeasured

    private static let notMeasured = Int64.min
    static let uncounted = Leave(.uncounted, epoch: 0)

    init(_ source: Source, epoch: Int64, token: Int64 = 0) {
        self.source = source
        self.epoch = epoch
        self.token = token
    }

    /// Whether somebody asks how long the call takes.
    @usableFromInline
    var isMeasured: Bool { self.began != Self.notMeasured }

    /// Whether a good end of the call counts in the windows of the rules: a closed circuit must have let it through.
    ///
    /// A probe's success closes the circuit, and so begins a new window, in which the probe must not count. A call
    /// through a circuit that is held closed would be in the window when the hold is over: a hold that ends by itself
    /// makes no new epoch.
    var isInWindow: Bool {
        switch self.source {
        case .closed, .closedConsecutive, .closedInMemory: true
        case .uncounted, .probe, .probeInMemory: false
        }
    }

    /// Whether the call tries whether the service is well again.
    var isProbe: Bool {
        switch self.source {
        case .probe, .probeInMemory: true
        case .closed, .closedConsecutive, .uncounted, .closedInMemory: false
        }
    }
}

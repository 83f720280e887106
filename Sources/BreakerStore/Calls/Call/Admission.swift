/// The permission for one call, with all that its outcome needs.
///
/// Four words, so that a healthy call gets its admission in CPU registers.
@usableFromInline
struct Admission: Equatable, Sendable {
    /// The source of the permission.
    enum Source: UInt8 {
        /// The closed circuit.
        case closed
        /// The closed circuit, where a success may have failures to forget: under the consecutive rule, and under any
        /// rule if a commit let the call through.
        case closedConsecutive
        /// A slot for a probe.
        case probe
        /// A circuit that is held closed, or whose state or rule this release does not know: its rules get no report of
        /// the call. Also for no admission, in a call that only reports its outcome.
        case uncounted
        /// An observing circuit, which would refuse the call if it enforced.
        case observed
        /// The closed circuit of the in-memory fallback, while the file can't be used.
        case closedInMemory
        /// A probe's slot of the in-memory fallback.
        case probeInMemory
    }

    let source: Source
    /// The epoch of the circuit that let the call through.
    let epoch: Epoch
    /// The probe's token; 0 for other calls.
    let token: Int64
    /// The uptime at which the operation begins; `notMeasured` if the call is not measured.
    var began = Self.notMeasured

    private static let notMeasured = Uptime.min

    init(_ source: Source, epoch: Epoch = 0, token: Int64 = 0) {
        self.source = source
        self.epoch = epoch
        self.token = token
    }

    @usableFromInline
    var isMeasured: Bool { self.began != Self.notMeasured }

    /// Whether the closed circuit in the file let the call through.
    var isClosedInFile: Bool { self.source == .closed || self.source == .closedConsecutive }

    /// Whether a success counts in the windows of the rules: only if a closed circuit let the call through.
    ///
    /// A probe's success closes the circuit, and so begins a new window, in which the probe must not count. A call
    /// through a circuit that is held closed would be in the window when the hold is over: the end of a hold by time
    /// makes no new epoch.
    var isInWindow: Bool {
        switch self.source {
        case .closed, .closedConsecutive, .closedInMemory: true
        case .uncounted, .observed, .probe, .probeInMemory: false
        }
    }

    var isProbe: Bool { self.source == .probe || self.source == .probeInMemory }
}

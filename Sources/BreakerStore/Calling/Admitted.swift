/// Leave to make one call, with what its report must carry.
enum Admitted: Sendable {
    /// The circuit is closed; under the consecutive rule a success may have failures to forget.
    case counted(epoch: Int64, reportsSuccess: Bool)
    /// The circuit is held closed: nothing is reported.
    case uncounted
    /// An observing circuit would refuse the call if it enforced: nothing that it decides by is reported.
    case observed
    case probe(token: Int64, epoch: Int64)
    /// The file can't be used, and the circuit in memory gave leave.
    case inMemory(Circuit.Admission)

    /// Whether a good end of the call counts in the windows of the rules: a closed circuit must have let it through.
    ///
    /// The window in which a probe ends would be that of the stretch after it. A call through a circuit that is held
    /// closed would be in the window when the hold is over: a hold that ends by itself makes no new epoch.
    var isInWindow: Bool {
        switch self {
        case .counted, .inMemory(.proceed): true
        case .uncounted, .observed, .probe, .inMemory: false
        }
    }

    /// Whether the call tries whether the service is well again.
    var isProbe: Bool {
        switch self {
        case .probe, .inMemory(.probe): true
        case .counted, .uncounted, .observed, .inMemory: false
        }
    }
}

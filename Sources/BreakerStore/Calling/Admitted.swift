/// Leave to make one call, with what its report must carry.
enum Admitted: Sendable {
    /// The circuit is closed; under the consecutive rule a success may have failures to forget.
    case counted(epoch: Int64, reportsSuccess: Bool)
    /// The circuit is held closed: nothing is reported.
    case uncounted
    case probe(token: Int64, epoch: Int64)
    /// The file can't be used, and the circuit in memory gave leave.
    case inMemory(Circuit.Admission)

    /// Whether the call tries whether the service is well again.
    var isProbe: Bool {
        switch self {
        case .probe, .inMemory(.probe): true
        case .counted, .uncounted, .inMemory: false
        }
    }
}

/// Leave to make one call, and what its report must carry.
enum Admitted: Sendable {
    /// Through a closed circuit; under the consecutive rule a success may have failures to forget.
    case counted(epoch: Int64, reportsSuccess: Bool)
    /// Held closed: nothing is reported.
    case uncounted
    case probe(token: Int64, epoch: Int64)
    /// The file can't be used: the circuit in memory gave leave.
    case inMemory(Circuit.Admission)
}

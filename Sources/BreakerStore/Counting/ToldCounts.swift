/// The numbers and the error that the file is told about a circuit's calls.
struct ToldCounts: Sendable {
    var name: String
    var tallies: [CircuitCounts.Tally]
    /// The text of a failure of which no row is kept.
    var error: (birth: Int64, error: CircuitCounts.LastError)? = nil
}

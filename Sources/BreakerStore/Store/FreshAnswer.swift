/// What a call learns from the file.
struct FreshAnswer {
    var answer: Circuit.Answer
    var epoch: Int64
    /// The consecutive rule: a success forgets failures.
    var reportsSuccess: Bool
    var hasFailures: Bool
    /// When the answer was read.
    var now: StoreTime
    /// The config that is in force, if it was another when the circuit was last read.
    var newConfig: CircuitBreaker.Config?
}

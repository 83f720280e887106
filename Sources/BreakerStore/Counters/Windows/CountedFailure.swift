/// A call to be counted at once, because it failed, was slow, or both.
struct CountedFailure: Equatable, Sendable {
    var isFailed: Bool
    var isSlow: Bool
}

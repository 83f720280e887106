/// The end of a call that failed, was slow, or both.
struct BadEnd: Equatable, Sendable {
    var isFailed: Bool
    var isSlow: Bool
}

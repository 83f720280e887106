/// A bad call: it is to be counted at once, because it failed, was slow, or both.
///
/// It may be a success that was slow.
struct CountedFailure: Equatable, Sendable {
    var isFailed: Bool
    var isSlow: Bool
}

/// What the caller says of a value that the operation has returned.
@usableFromInline
enum ValueJudgement {
    case good
    /// The value is a failure, without being an error.
    case failing
    /// The value stands for this error, which the policy judges as if the operation had thrown it.
    case error(any Error)

    @inlinable
    init(_ error: (any Error)?) { self = error.map(Self.error) ?? .good }
}
